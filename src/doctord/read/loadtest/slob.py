"""slob.conf of SLOB, which tests storage with a database: `UPDATE_PCT=25`, `RUN_TIME=300`, `SCALE=10000`, a line each.

It yields `setting` (component slob): the name as it stands, the value without quotes, of the time when the file was
last written. What is set to nothing is left out.
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

NAME = "slob.conf (SLOB)"
RANK = Rank.NAMED
NO_SETTING: Final = "no setting"
ASSIGNED: Final = regex(r"^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=(.*)$", re.MULTILINE)
ITS_OWN: Final = frozenset({"UPDATE_PCT", "WORK_LOOP", "WORK_UNIT", "REDO_STRESS", "SHARED_DATA_MODULUS", "SCAN_PCT"})


def sniff(head: str) -> bool:
    """Whether it sets two names that only SLOB has."""
    return len(ITS_OWN & {found[1] for found in ASSIGNED.finditer(head)}) > 1


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    about = {"ts": micros(last_written(source)), "host": source.host, "component": "slob", "source": FROM_FILE,
             "source_file": source.name}  # fmt: skip
    held = []
    for line, text in source.lines():
        found = ASSIGNED.match(text.partition("#")[0].strip())
        if found and (value := found[2].strip("\"' \t")):
            held.append(about | {"name": found[1], "value": value, "line": line})
        elif not found and text.partition("#")[0].strip() and not text.lstrip().startswith("export"):
            source.skip(line, NO_SETTING)
    if held:
        yield rows("setting", held)
