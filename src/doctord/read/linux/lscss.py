"""lscss of Linux on IBM Z (s390-tools), with any of -s -u -a, also with Avail. and VPM: subchannels and their devices.

`setting`, component `subchannel`, by the device: `BUS-ID.devtype`, `.cutype`, `.use` (yes, no), `.chpids`. `statistic`,
component `kernel`, a reading: `lscss.dasds`, how many DASDs (ECKD) are in use. Volumes and their aliases (PAV) are
alike here; lsdasd, or the devices of iostat, tell how many of them are volumes. Left out: subchannels without a device,
those of CHSC and EADM, masks of paths. lscss itself tells no time.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "lscss"
RANK = Rank.NAMED
HEADING: Final = regex(
    r"(IO Subchannels and Devices:\s+)?Device\s+Subchan\.\s+DevType\s+CU Type\s+Use\s+PIM\s+PAM\s+POM"
)
_ID: Final = r"(?:[0-9a-f]{1,2}\.[0-9a-f]\.)?[0-9a-f]{4}"
DEVICE: Final = regex(
    rf"(?P<device>{_ID})\s+(?:{_ID}|n/a)\s+(?P<devtype>[0-9a-f]{{4}}/[0-9a-f]{{2}})\s+(?P<cutype>[0-9a-f]{{4}}/[0-9a-f]{{2}})"
    r"(?:\s+(?P<use>yes))?(?:(?:\s+[0-9a-f]{2}){3,4}\s+(?P<chpids>[0-9a-f]{8} [0-9a-f]{8}))?(?:\s+[a-z ]+)?\s*$",
    re.IGNORECASE,
)
# What has no device on it, and the other sections of -a.
LEFT_OUT: Final = regex(
    rf"\s*$|-+\s*$|(none|n/a)\s|{_ID}\s+n/a\s*$|(IO|CHSC|EADM) Subchannels|Device\s+Subchan\.", re.IGNORECASE
)
# Control unit and device of the kernel's driver for ECKD (drivers/s390/block/dasd_eckd.c).
CONTROL_UNITS: Final = frozenset({"3990", "2105", "2107", "1750", "9343"})
VOLUMES: Final = frozenset({"3380", "3390", "9345"})
NO_SUBCHANNEL: Final = "no subchannel"


def sniff(head: str) -> bool:
    """Whether it begins with lscss' heading."""
    return HEADING.match(head.lstrip()) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting` and `statistic`."""
    common = {"ts": micros(last_written(source)), "host": source.host}
    settings, dasds = list[dict[str, Any]](), 0
    for number_of_line, text in source.lines():
        if found := DEVICE.match(text):
            told = {key: value.lower() for key, value in found.groupdict().items() if value is not None}
            settings += [
                common | {"component": "subchannel", "name": f"{told['device']}.{key}", "value": value}
                for key, value in ({"use": "no"} | told).items()
                if key != "device"
            ]
            dasds += _is_dasd(told)
        elif not LEFT_OUT.match(text):
            source.skip(number_of_line, NO_SUBCHANNEL)
    if settings:
        counted = {
            "component": "kernel",
            "name": "lscss.dasds",
            "value": float(dasds),
            "unit": "count",
            "kind": "gauge",
        }
        yield rows("setting", settings)
        yield rows("statistic", [common | counted])


def _is_dasd(told: dict[str, str]) -> bool:
    """Whether a device is an ECKD DASD in use: a volume, or an alias of one."""
    is_eckd = told["cutype"][:4] in CONTROL_UNITS and told["devtype"][:4] in VOLUMES
    return is_eckd and told.get("use") == "yes"
