"""Takes every constant out of a statement's text.

pg_stat_statements replaces the constants of queries, but keeps utility statements as they were typed
(`ALTER ROLE ... PASSWORD '...'`), and comments always. What is left here is structure: keywords, names, parameters.
"""

import re
from typing import Final

_CONSTANT: Final = re.compile(
    r"""
    (?= [/'"$\d.-] | [EBXNQ]' | NQ' | U&' )  # nothing else begins a constant: most letters are passed here
    (?:
      (?P<doubtful> /\*(?:(?!\*/).)*/\*.* | (?<!\bE)'(?:[^'\\]|''|\\[^'])*\\'.* )
    | (?P<comment> /\*.*?(?:\*/|\Z) | --[^\n]* )
    | (?P<escaped> \bE'(?:[^'\\]|''|\\.)*(?:'|\Z) )
    | (?P<oracle>  \bN?Q'(?: \[.*?\] | \{.*?\} | \(.*?\) | <.*?> | (?P<mark>[^\s\[{(<]).*?(?P=mark) )(?:'|\Z) )
    | (?P<quoted>  (?:\bU&|\b[BXN])?'(?:[^']|'')*(?:'|\Z) )
    | (?P<dollar>  (?<![\w$])\$(?P<tag>[A-Za-z_]\w*)?\$.*?(?:\$(?P=tag)\$|\Z) )
    | (?P<bare>    (?<![\w$])\$\$.*?(?:\$\$|\Z) )
    | (?P<name>    "(?:[^"]|"")*(?:"|\Z) )
    | (?P<number>  (?<![\w$.])(?:\d[\w.]*|\.\d[\w.]*) )
    )
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def scrub(text: str) -> str:
    """The statement on one line, with `?` for each constant and without comments.

    Where a constant's end depends on the server's settings (a backslash before a quote) or comments are nested, all of
    the rest is taken for a constant.

    >>> scrub("ALTER ROLE ann PASSWORD 'it''s' /* by me */ VALID UNTIL $1")
    'ALTER ROLE ann PASSWORD ? VALID UNTIL $1'
    >>> scrub("UPDATE t SET a = q'[it's secret]' WHERE b = nq'!no'one's!'")
    'UPDATE t SET a = ? WHERE b = ?'
    """
    return " ".join(_CONSTANT.sub(_replacement, text).split())


def _replacement(match: re.Match[str]) -> str:
    if match["comment"]:
        return " "
    return match["name"] or "?"
