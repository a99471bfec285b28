"""What a server lets a user write and that may hold a secret: settings of PostgreSQL, and the names of programs."""

import re
from functools import lru_cache
from typing import Final

from doctord.regex import regex

HIDDEN: Final = "(set, not shown)"
_NAMES: Final = ("conninfo", "_command", "passphrase", "passw", "secret", "token", "credential", "apikey", "api_key")
_NO_TEXT: Final = regex(r"[-+]?[\d.]+\s*[A-Za-z]{0,3}|on|off|true|false|yes|no", re.IGNORECASE)


def may_be_secret(name: str, *, is_text: bool) -> bool:
    """Whether a setting of PostgreSQL may hold a secret.

    That are commands, connection strings, and the free text of settings that extensions and applications define.
    """
    return any(part in name for part in _NAMES) or ("." in name and is_text)


def shown(name: str, value: str) -> str:
    """The value as it is kept, where nobody says of what type it is.

    >>> shown("work_mem", "64MB"), shown("app.key", "b"), shown("app.limit", "42")
    ('64MB', '(set, not shown)', '42')
    """
    is_text = _NO_TEXT.fullmatch(value) is None
    return HIDDEN if value and may_be_secret(name, is_text=is_text) else value


# Where a program's name ends: a sign before a value, an address or an argument; a run of letters and digits like a key.
_END: Final = regex(
    r"""[=:@?&'"`(\[{<,;|\\$%#] | \s-\w | \s--\w | ^-
    | (?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{16,}""",
    re.VERBOSE,
)


@lru_cache(maxsize=4096)
def program_name(text: str) -> str | None:
    """What a client calls itself, as far as that is a name: application_name may hold anything, a whole address too.

    >>> program_name("psql"), program_name("pgAdmin 4 - DB:shop"), program_name("sidekiq 7.1 [3 of 10 busy]")
    ('psql', 'pgAdmin 4 - DB', 'sidekiq 7.1')
    >>> program_name("app password=hunter2"), program_name("postgres://ann:hunter2@db/shop"), program_name("=x")
    ('app password', 'postgres', None)
    """
    end = _END.search(text)
    return text[: end.start() if end else None].strip(" -") or None
