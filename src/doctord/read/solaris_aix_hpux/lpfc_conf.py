"""lpfc.conf of Emulex' driver for fibre channel on Solaris: `lun-queue-depth=30;`, `tgt-queue-depth=256;`.

It yields `setting` (component `lpfc`): the name with its hyphens, the value without quotes and semicolon; lists keep
their commas. `#` begins a comment.
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

NAME = "lpfc.conf (Solaris)"
RANK = Rank.NAMED
ASSIGNED: Final = regex(r"([A-Za-z][\w-]*)\s*=\s*(.+?)\s*;?\s*$")
ITS_OWN: Final = regex(r"^[^\S\n]*+(?:lun-queue-depth|tgt-queue-depth|nodev-tmo|linkdown-tmo|fcp-bind-\w+)\s*=",
                            re.MULTILINE)  # fmt: skip
NO_SETTING: Final = "no setting"


def sniff(head: str) -> bool:
    """Whether it sets what only this driver has."""
    return bool(ITS_OWN.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    about = {"ts": micros(last_written(source)), "host": source.host, "component": "lpfc", "source": FROM_FILE,
             "source_file": source.name}  # fmt: skip
    held, goes_on = [], False
    for number, text in source.lines():
        line = text.partition("#")[0].strip()
        if found := ASSIGNED.match(line):
            held.append(about | {"name": found[1], "value": found[2].strip("\"', "), "line": number})
        elif line and not goes_on:
            source.skip(number, NO_SETTING)
        goes_on = bool(line) and not line.endswith(";") and (goes_on or bool(found))
    if held:
        yield rows("setting", held)
