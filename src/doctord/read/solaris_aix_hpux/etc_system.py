"""/etc/system of Solaris: `set [module:]name = value`, a line each; `*` and `#` begin a comment.

It yields `setting` (component `solaris`): the name with its module (`sd:sd_max_throttle`), the value as it stands, a
hexadecimal one (`0x8`) as a decimal. Lines of forceload, exclude and the like set nothing.
"""

import re
from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import FROM_FILE
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "/etc/system (Solaris)"
RANK = Rank.NAMED
SET: Final = regex(r"set\s+((?:\w+:)?\w+)\s*[=|&]\s*(\S+)\s*$")
OTHER: Final = regex(r"(?:forceload|exclude|include|moddir|rootfs|rootdev)\s*:")
NO_SETTING: Final = "no setting"


def sniff(head: str) -> bool:
    """Whether it sets something, and all else is such a file's."""
    lines = _told(head.splitlines()[:-1] if len(head) >= 1 << 12 else head.splitlines())
    known = sum(SET.match(line) is not None for line in lines)
    return known > 0 and all(SET.match(line) or OTHER.match(line) for line in lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    about = {"ts": micros(last_written(source)), "host": source.host, "component": "solaris", "source": FROM_FILE,
             "source_file": source.name}  # fmt: skip
    held = []
    for number, text in source.lines():
        for line in _told([text]):
            if found := SET.match(line):
                held.append(about | {"name": found[1], "value": _plain(found[2]), "line": number})
            elif not OTHER.match(line):
                source.skip(number, NO_SETTING)
    if held:
        yield rows("setting", held)


def _told(lines: list[str]) -> list[str]:
    """Lines that are neither blank nor comments."""
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith(("*", "#"))]


def _plain(value: str) -> str:
    return str(int(value, 16)) if re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", value) else value
