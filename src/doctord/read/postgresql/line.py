r"""A line of PostgreSQL's configuration files: `name = value`, `name value`, with quotes and a comment."""

import re
from typing import Final, NamedTuple

from doctord.regex import regex

LONGEST: Final = 1 << 16
NAME: Final = r"[A-Za-z_][\w$]*+(?:\.[A-Za-z_][\w$]*+)?"
ASSIGNMENT: Final = regex(rf"\s*({NAME})(?:\s*=\s*|\s+|(?='))(.*)", re.DOTALL)
QUOTED: Final = regex(r"'((?:[^'\\]|''|\\.)*+)'\s*(?:#.*)?", re.DOTALL)
BARE: Final = regex(r"([^\s'#=]++)\s*(?:#.*)?", re.DOTALL)
ESCAPE: Final = regex(r"''|\\([0-7]{1,3}|.)", re.DOTALL)
ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# The server writes these with capitals, whatever a file has.
CAPITALS: Final = {"datestyle": "DateStyle", "intervalstyle": "IntervalStyle", "timezone": "TimeZone"}


class Line(NamedTuple):
    """A name as the server has it, and its value without quotes."""

    name: str
    value: str


def parsed(text: str) -> Line | str | None:
    """What a line says; text: why the server refuses it; null: nothing.

    >>> parsed("work_mem 64MB # a comment"), parsed("search_path = 'it''s'"), parsed("# work_mem = 4MB")
    (Line(name='work_mem', value='64MB'), Line(name='search_path', value="it's"), None)
    >>> parsed("work_mem = 64 MB")
    "`64 MB` is more than one word: write '64 MB' or 64MB (the server refuses the whole file)"
    """
    bare = text.strip()
    if not bare or bare.startswith("#"):
        return None
    if len(text) > LONGEST:
        return "longer than any setting"
    found = ASSIGNMENT.fullmatch(bare)
    if found is None or not found[2] or found[2].startswith("#"):
        return "no setting with its value (the server refuses the whole file)"
    name = found[1].lower()
    if value := QUOTED.fullmatch(found[2]):
        return Line(CAPITALS.get(name, name), ESCAPE.sub(_unescaped, value[1]))
    if value := BARE.fullmatch(found[2]):
        return Line(CAPITALS.get(name, name), value[1])
    return _refused(found[2])


def _refused(value: str) -> str:
    if value.startswith("'"):
        return "a quote is not closed (the server refuses the whole file)"
    words = " ".join(value.partition("#")[0].split())[:40]
    close = f" or {words.replace(' ', '')}" if re.fullmatch(r"\d+ [A-Za-z]+", words) else ""
    return f"`{words}` is more than one word: write '{words}'{close} (the server refuses the whole file)"


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if code is None:
        return "'"
    return chr(int(code, 8) & 0xFF) if code[0] in "01234567" else ESCAPED.get(code, code)
