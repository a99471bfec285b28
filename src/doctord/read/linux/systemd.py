"""Units of systemd: services of databases, with their limits; drop-ins too.

It yields `setting`, component `systemd`, named `UNIT.Key` after the file: `postgresql@.service.Nice` (a drop-in's unit
is that of its folder, `mariadb.service.d`). Keys that may come several times (Environment, ExecStartPre) are left out,
as is everything that may hold a secret.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.linux.settings import Setting, setting_rows
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "systemd unit"
RANK = Rank.SHAPE
SECTION: Final = regex(r"\[(Unit|Service|Install|Socket|Mount|Slice|Timer|Scope)\]\s*$")
LINE: Final = regex(r"([A-Z][A-Za-z]+)\s*=\s*(.*?)\s*$")
KEPT: Final = regex(
    r"Limit\w+|Memory\w+|CPU\w+|IO\w+|Tasks\w+|Nice|OOM\w+|Timeout\w+|Restart\w*|KillMode|User|Group|Type|PrivateTmp"
    r"|Slice|NUMA\w+|WatchdogSec|StartLimit\w+"
)


def sniff(head: str) -> bool:
    """Whether it has a section of a unit."""
    begins = [line for line in head.splitlines() if line.strip() and not line.lstrip().startswith(("#", ";"))]
    return bool(begins) and SECTION.match(begins[0]) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    yield from setting_rows(source, "systemd", _settings(source))


def _settings(source: SourceFile) -> Iterator[Setting]:
    unit, goes_on = _unit(source.name), False
    for line, raw in source.lines():
        text, went_on = raw.strip(), goes_on
        goes_on = text.endswith("\\")
        if went_on or not text or text.startswith(("#", ";", "[")):
            continue
        found = LINE.match(text)
        if found is None:
            source.skip(line, "no key with its value")
        elif KEPT.fullmatch(found[1]):
            yield Setting(f"{unit}.{found[1]}", found[2], line)


def _unit(name: str) -> str:
    """The unit that a file is of: a drop-in lies in a folder of its unit's name."""
    path = PurePath(name)
    return path.parent.name.removesuffix(".d") if path.parent.name.endswith(".d") else path.name
