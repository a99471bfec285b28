"""listener.ora, tnsnames.ora and sqlnet.ora of Oracle's network: names, and what stands in their brackets.

It yields `setting` (component `oracle_net`), a row for each value, its name the path to it in capitals:
`LISTENER.DESCRIPTION.ADDRESS.PORT`; of several alike below one name the second is `ADDRESS[2]`. Of several names for
one entry the first counts, without its domain. Values keep their letters. A password is not kept. `#` begins a comment.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import FROM_FILE
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "listener.ora, tnsnames.ora, sqlnet.ora (Oracle)"
RANK = Rank.NAMED
BEGINS: Final = regex(r"^([A-Za-z][\w.,$# -]*?)\s*=\s*", re.MULTILINE)
BRACKETS: Final = regex(
    r"^[A-Za-z][\w.,$# -]*?\s*=\s*\(\s*(?:DESCRIPTION|ADDRESS|SID_LIST|ADDRESS_LIST|DESCRIPTION_LIST)\b",
    re.IGNORECASE | re.MULTILINE,
)
OF_SQLNET: Final = regex(r"^(?:SQLNET\.\w+|NAMES\.(?:DIRECTORY_PATH|DEFAULT_DOMAIN))\s*=", re.IGNORECASE | re.MULTILINE)
TOKEN: Final = regex(r"\(\s*([\w.$#]+)\s*=\s*|([^()]+)|(\))|(\()")
PASSWORD: Final = regex(r"PASSW", re.IGNORECASE)
NOT_CLOSED: Final = "a bracket that is not closed"
DEEPEST: Final = 20


def sniff(head: str) -> bool:
    """Whether a name with such brackets, or a setting of sqlnet.ora, begins a line."""
    return bool(OF_SQLNET.search(head) or BRACKETS.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    about = {"ts": micros(last_written(source)), "host": source.host, "component": "oracle_net", "db": "oracle",
             "source": FROM_FILE, "source_file": source.name}  # fmt: skip
    held = [about | row for number, text in _entries(source) for row in _values(source, number, text)]
    if held:
        yield rows("setting", held)


def _entries(source: SourceFile) -> Iterator[tuple[int, str]]:
    """Each name with all that belongs to it, and the number of its line: what is indented or in brackets goes on."""
    begun, held = 0, ""
    for number, raw in source.lines():
        text = raw.partition("#")[0].rstrip()
        if not text.strip():
            continue
        if BEGINS.match(text) and held.count("(") <= held.count(")"):
            if held:
                yield begun, held
            begun, held = number, text
        else:
            held += f" {text.strip()}"
    if held:
        yield begun, held


def _values(source: SourceFile, number: int, text: str) -> Iterator[dict[str, Any]]:
    name, _, rest = text.partition("=")
    if PASSWORD.search(name):
        yield {"name": name.strip().upper(), "value": "(not shown)", "line": number}
        return
    if "=" not in rest or not rest.lstrip().startswith("("):
        yield {"name": name.strip().upper(), "value": _shown(name, rest.strip(" ()")), "line": number}
        return
    path, seen = [re.split(r"[,.]", name.strip().upper())[0]], dict[str, int]()
    for found in TOKEN.finditer(rest):
        if found[1] and len(path) < DEEPEST:
            within = ".".join([*path, found[1].upper()])
            seen[within] = seen.get(within, 0) + 1
            path.append(found[1].upper() + (f"[{seen[within]}]" if seen[within] > 1 else ""))
        elif found[3] and len(path) > 1:
            path.pop()
        elif found[2] and found[2].strip() and len(path) > 1:
            yield {"name": ".".join(path), "value": _shown(path[-1], found[2].strip()), "line": number}
    if len(path) > 1:
        source.skip(number, NOT_CLOSED)


def _shown(name: str, value: str) -> str:
    return "(not shown)" if PASSWORD.search(name) else value
