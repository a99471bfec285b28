"""lsdasd of Linux on IBM Z, with any of -s -a, or -u: the DASDs, as a list with a line each.

`setting`, component `dasd`: `NAME.bus_id`, `.status`, `.type` (ECKD, FBA, DIAG), `.block_size` (bytes). `statistic`,
component `kernel`, readings: `lsdasd.size` in bytes by device, and `lsdasd.aliases`, how many parallel access volumes
(PAV) there are for all of them. Of `lsdasd -u` only `dasd.volumes` and `dasd.aliases` by control unit (vendor, serial
number and subsystem), named as live. What is offline does not count.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import last_written
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "lsdasd"
RANK = Rank.NAMED
HEADING: Final = regex(r"Bus-ID\s+(Status\s+Name\s+Device\s+Type\s+BlkSz\s+Size\s+Blocks|Name\s+UID)", re.IGNORECASE)
_ID: Final = r"(?:[0-9a-f]{1,2}\.[0-9a-f]\.)?[0-9a-f]{4}"
DEVICE: Final = regex(
    rf"(?P<bus_id>{_ID})\s+(?P<status>[\w/-]+(?:\(\w+\))?)\s+(?P<name>dasd\w+)\s+\d+:\d+\s+"
    r"(?P<type>[A-Z]+)(?: \(ESE\))?\s*(?P<block_size>\d+)?\s*(?:(?P<size>\d+)MB)?\s*(?P<blocks>\d+)?\s*$"
)
UNIQUE: Final = regex(rf"{_ID}\s+(?P<name>dasd\w+|alias)\s+(?P<unit>[^\s.]+\.[^\s.]+\.[^\s.]+)\.\S+\s*$")
ALIAS: Final = regex(rf"{_ID}\s+alias\b")
LEFT_OUT: Final = regex(rf"=+\s*$|\s*$|{_ID}\s+offline\b")
MIB: Final = 1 << 20
NO_DEVICE: Final = "no DASD"


def sniff(head: str) -> bool:
    """Whether it begins with lsdasd's heading."""
    return HEADING.match(head.lstrip()) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting` and `statistic`."""
    common = {"ts": micros(last_written(source)), "host": source.host}
    settings, readings, aliases = list[dict[str, Any]](), list[dict[str, Any]](), 0
    units = dict[str, Counter[str]]()
    for number_of_line, text in source.lines():
        if unique := UNIQUE.match(text):
            units.setdefault(unique["unit"], Counter())["aliases" if unique["name"] == "alias" else "volumes"] += 1
        elif ALIAS.match(text):
            aliases += 1
        elif found := DEVICE.match(text):
            settings += [
                common | {"component": "dasd", "name": f"{found['name']}.{key}", "value": found[key]}
                for key in ("bus_id", "status", "type", "block_size")
                if found[key]
            ]
            if (size_mib := number(found["size"] or "")) is not None:
                readings.append(_reading("lsdasd.size", size_mib * MIB, "bytes", found["name"]))
        elif not HEADING.match(text) and not LEFT_OUT.match(text):
            source.skip(number_of_line, NO_DEVICE)
    for unit, counted in units.items():
        readings += [_reading(f"dasd.{kind}", float(counted[kind]), kind, unit) for kind in ("volumes", "aliases")]
    if settings:
        readings.append(_reading("lsdasd.aliases", float(aliases), "count", None))
        yield rows("setting", settings)
    if readings:
        yield rows("statistic", [common | row for row in readings])


def _reading(name: str, value: float, unit: str, entity: str | None) -> dict[str, Any]:
    return {"component": "kernel", "name": name, "value": value, "unit": unit, "kind": "gauge", "entity": entity}
