"""Takes every constant, and every value that stands without quotes, out of a statement's text.

pg_stat_statements replaces the constants of queries, but keeps utility statements as they were typed
(`ALTER ROLE ... PASSWORD '...'`), and comments always. What is left here is structure: keywords, names, parameters.
"""

from typing import Literal

from doctord._native import scrubbed

Dialect = Literal["postgresql", "mysql", "oracle"]


def scrub(text: str, dialect: Dialect) -> str:
    """The statement on one line, with `?` for each constant and without comments.

    By the dialect's grammar names stay and values go, also those without quotes: what SET gives to a setting, what
    follows IDENTIFIED BY, what stands in OPTIONS. Where a constant's end depends on the server's settings (a backslash
    before a quote in PostgreSQL) or comments are nested, all of the rest is taken for a constant; so is what is not
    closed. MySQL's double quotes hold a constant, for the text does not tell whether ANSI_QUOTES is set.

    >>> scrub("ALTER ROLE ann PASSWORD 'it''s' /* by me */ VALID UNTIL $1", "postgresql")
    'ALTER ROLE ann PASSWORD ? VALID UNTIL $1'
    >>> scrub("SET app.token = secret", "postgresql")
    'SET app.token = ?'
    >>> scrub("UPDATE t SET a = q'[it's secret]' WHERE b = nq'!no'one's!'", "oracle")
    'UPDATE t SET a = ? WHERE b = ?'
    """
    return scrubbed(text, dialect)


def text_id(plain: str) -> str:
    """An identifier of a statement of which its server tells none: a hash of its scrubbed text.

    >>> text_id("SELECT ?")
    'c148796e1220075a'
    """
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, 4 MiB, which a recorder of PostgreSQL does without

    return blake2b(plain.encode(), digest_size=8).hexdigest()
