"""What `vxiod` of Veritas Volume Manager prints: how many of its threads for I/O there are.

    16 volume I/O daemons running

It yields `setting` (component `vxvm`): `vxiod`, the number.
"""

from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "vxiod"
RANK = Rank.NAMED
LOOKED_AT: Final = 5
TOLD: Final = regex(r"\s*(\d{1,4}) volume I/O (?:daemons?|threads?) (?:are )?running")
NO_NUMBER: Final = "no number of volume I/O daemons"


def sniff(head: str) -> bool:
    """Whether one of the first lines is vxiod's."""
    return any(map(TOLD.match, head.splitlines()[:LOOKED_AT]))


def read(source: SourceFile) -> Iterator[Batch]:
    """A row of `setting`."""
    about = {"ts": micros(last_written(source)), "host": source.host, "component": "vxvm", "source_file": source.name}
    told = list[dict[str, Any]]()
    for number, line in source.lines():
        if found := TOLD.match(line):
            told = [about | {"name": "vxiod", "value": found[1], "line": number}]
        elif line.strip() and not line.lstrip().startswith("#"):
            source.skip(number, NO_NUMBER)
    if told:
        yield rows("setting", told)
