"""`fstyp -v` of Solaris and HP-UX: what the super-block of a file system tells, of UFS and VxFS.

`setting`, component `ufs` or `vxfs`: block and fragment size (`bsize`, `fsize`, `frag`; of VxFS `bsize`, where
HP-UX writes f_bsize and f_frsize), version of the layout, `minfree`, `maxcontig`, `optim`, sizes in blocks (`size`,
`blocks`, `free`), `logstart`, `logend`. Several file systems one after another have the number of theirs before the
name from the second on (`2.bsize`). Left out: maps, summaries of free pieces, times.
"""

from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "fstyp -v"
RANK = Rank.NAMED
TYPE: Final = regex(r"(ufs|vxfs|hfs)\s*$")
MAGIC: Final = regex(r"magic\s+[0-9a-f]+\b|version:?\s+\d+\b|f_bsize:?\s+\d+\b")
KEPT: Final = (
    "version", "bsize", "fsize", "frag", "minfree", "maxcontig", "optim", "size", "dsize", "blocks", "free", "logstart",
    "logend", "logversion", "f_bsize", "f_frsize", "f_blocks", "f_bfree", "ninode", "aulen",
)  # fmt: skip
PAIR: Final = regex(rf"(?<![\w.])({'|'.join(KEPT)})[:\s]\s*([\w.%]+)")


def sniff(head: str) -> bool:
    """Whether it begins with a type of file system, and what its super-block tells."""
    lines = [line for line in head.splitlines() if line.strip()][:2]
    return len(lines) > 1 and TYPE.match(lines[0]) is not None and MAGIC.match(lines[1].strip()) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    common: dict[str, object] = {"ts": micros(last_written(source)), "host": source.host}
    kind, count = "", 0
    found = dict[tuple[str, str], dict[str, Any]]()
    for number_of_line, text in source.lines():
        if begins := TYPE.match(text):
            kind, count = begins[1], count + 1
            continue
        for name, value in PAIR.findall(text) if kind else ():
            key = name if count == 1 else f"{count}.{name}"
            found.setdefault(
                (kind, key), common | {"component": kind, "name": key, "value": value, "line": number_of_line}
            )
    if found:
        yield rows("setting", found.values())
