"""Oracle's parameter files as text: init.ora, an spfile written by `create pfile`, or what `strings` shows of one.

It yields `setting` (component oracle): the name in small letters, quotes taken off, the parts of a list joined by `, `
as v$parameter shows them, and sizes such as `6G` in bytes. `sid.name=` is of that instance, `*.name=` of all (null).
The database is that of `db_name`, the time of the rows that when the file was last written. A password is not kept.

A binary spfile is refused: its blocks cannot be told from damage.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from doctord._native import Batch
from doctord.dataset.catalogue import catalogue
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import FROM_FILE
from doctord.errors import UserError
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "Oracle parameter files (init.ora, spfile as text)"
RANK = Rank.SHAPE
NOT_A_PARAMETER = "not a parameter"
NO_END = "a value whose quote or bracket is not closed"

ASSIGNED = regex(r"^[ \t]*(?:[\w$#*]+\.)?(\w+)[ \t]*=", re.MULTILINE)
# Other programs have settings of these names, too; of the others none has two.
ANYBODYS = frozenset(
    {"compatible", "cpu_count", "event", "instance_name", "serializable", "sessions", "thread", "transactions"}
)
OF_ALL = regex(r"^\*\.\w+ *=", re.MULTILINE)
POINTER = regex(r"\A\s*spfile\s*=", re.IGNORECASE)
ASSIGNMENT = regex(r"\s*(?:(?P<sid>[\w$#*]+)\.)?(?P<name>\w+)\s*=\s*(?P<value>.*?)\s*$")
PARTS = regex(r"""'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<plain>[^,'"]+)""")
SIZE = regex(r"(\d+)([KMGTPE])", re.IGNORECASE)
PASSWORD = regex(r"(?i)(password\s*=\s*)[^\s,;)]+")
HIDDEN = r"\1(not shown)"


@dataclass
class Parameter:
    """A parameter as the file has it, perhaps on several lines from the first one on."""

    line: int
    sid: str | None
    name: str
    value: str


def sniff(head: str) -> bool:
    """Whether a file that begins so holds parameters of Oracle, as text or binary."""
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith("#")), "")
    if "\0" not in head and ASSIGNMENT.match(first) is None:
        return False
    names = {found[1].lower() for found in ASSIGNED.finditer(head)} & catalogue("oracle").keys() - ANYBODYS
    return len(names) > 1 or bool(OF_ALL.search(head) and names) or bool(POINTER.match(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`.

    Raises:
        UserError: it is a binary spfile.
    """
    if "\0" in source.head:
        raise UserError(
            f"{source.name}: a binary spfile",
            "`create pfile='/tmp/init.ora' from spfile;` writes it as text, `strings` shows most of it",
        )
    held = list(_parameters(source))
    last: dict[tuple[str | None, str], str] = {}
    for parameter in held:
        key = (parameter.sid, parameter.name)
        if last.get(key, parameter.value) != parameter.value:
            source.note(f"{parameter.name} is set more than once: the last value counts")
        last[key] = parameter.value
    if held:
        yield rows("setting", _rows(source, held))


def _parameters(source: SourceFile) -> Iterator[Parameter]:
    held: Parameter | None = None
    for number, raw in source.lines():
        text = without_comment(raw, in_quote=_open_quote(held.value) if held else None).strip()
        if not text:
            continue
        begun = ASSIGNMENT.match(text)
        if begun is None and held and is_open(held.value):
            held.value = held.value.removesuffix("\\") + text
        elif begun is None:
            source.skip(number, NOT_A_PARAMETER)
        else:
            if held:
                yield from _whole(source, held)
            sid = None if begun["sid"] == "*" else begun["sid"]
            held = Parameter(number, sid, begun["name"].lower(), begun["value"])
    if held:
        yield from _whole(source, held)


def _whole(source: SourceFile, parameter: Parameter) -> Iterator[Parameter]:
    if is_open(parameter.value):
        source.skip(parameter.line, NO_END)
    else:
        yield parameter


def without_comment(text: str, in_quote: str | None = None) -> str:
    """A line up to the first `#` that is not quoted; it may begin inside of a quote.

    >>> without_comment("log_archive_format='arch#%s.log' # sequence")
    "log_archive_format='arch#%s.log' "
    """
    quote = in_quote
    for place, character in enumerate(text):
        if quote:
            quote = None if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#":
            return text[:place]
    return text


def is_open(value: str) -> bool:
    """Whether a value goes on in the next line.

    >>> is_open("('/a/control01.ctl',"), is_open("'/a/b"), is_open("(a, b)"), is_open("16")
    (True, True, False, False)
    """
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", value)
    return _open_quote(value) is not None or bare.count("(") > bare.count(")") or value.endswith((",", "\\"))


def _open_quote(value: str) -> str | None:
    rest = re.sub(r"'[^']*'|\"[^\"]*\"", "", value)
    found = re.search(r"['\"]", rest)
    return found[0] if found else None


def plain_value(text: str) -> tuple[str, str | None]:
    r"""A value as v$parameter has it, and its unit.

    >>> plain_value("('/a/control01.ctl', \"/b/control02.ctl\")"), plain_value("6G"), plain_value("'AUTO'")
    (('/a/control01.ctl, /b/control02.ctl', None), ('6442450944', 'bytes'), ('AUTO', None))
    """
    listed = text.startswith("(") and text.endswith(")") and "=" not in text
    parts = [
        next(part for part in found.groups() if part is not None).strip()
        for found in PARTS.finditer(text[1:-1] if listed else text)
    ]
    value = ", ".join(part for part in parts if part)
    if size := SIZE.fullmatch(value):
        return str(int(size[1]) << 10 * ("KMGTPE".index(size[2].upper()) + 1)), "bytes"
    return PASSWORD.sub(HIDDEN, value), None


def _rows(source: SourceFile, parameters: list[Parameter]) -> Iterator[dict[str, Any]]:
    name = next((plain_value(held.value)[0] for held in parameters if held.name == "db_name"), None)
    common = {
        "ts": micros(last_written(source)),
        "component": "oracle",
        "db": f"oracle:{name}" if name else "oracle",
        "source": FROM_FILE,
        "source_file": source.name,
    }
    for held in parameters:
        value, unit = plain_value(held.value)
        yield common | {"instance": held.sid, "name": held.name, "value": value, "unit": unit, "line": held.line}
