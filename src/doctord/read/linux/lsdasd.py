"""lsdasd of Linux on IBM Z: the DASDs, as a list with a line each.

`setting`, component `dasd`: `NAME.bus_id`, `.status`, `.type` (ECKD, FBA, DIAG), `.block_size` (bytes). `statistic`,
component `kernel`, readings: `lsdasd.size` in bytes by device, and `lsdasd.aliases`, how many parallel access volumes
(PAV) there are for all of them.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import last_written
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.source import SourceFile

NAME = "lsdasd"
RANK = Rank.NAMED
HEADING: Final = re.compile(r"Bus-ID\s+Status\s+Name\s+Device\s+Type\s+BlkSz\s+Size\s+Blocks", re.IGNORECASE)
DEVICE: Final = re.compile(
    r"(?P<bus_id>[0-9a-f]\.[0-9a-f]\.[0-9a-f]{4})\s+(?P<status>[\w/-]+(?:\(\w+\))?)\s+(?P<name>dasd\w+)\s+\d+:\d+\s+"
    r"(?P<type>[A-Z]+)\s*(?P<block_size>\d+)?\s*(?:(?P<size>\d+)MB)?\s*(?P<blocks>\d+)?\s*$"
)
ALIAS: Final = re.compile(r"[0-9a-f]\.[0-9a-f]\.[0-9a-f]{4}\s+alias\b")
LEFT_OUT: Final = re.compile(r"=+\s*$|\s*$")
MIB: Final = 1 << 20
NO_DEVICE: Final = "no DASD"


def sniff(head: str) -> bool:
    """Whether it begins with lsdasd's heading."""
    return HEADING.match(head.lstrip()) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting` and `statistic`."""
    common = {"ts": micros(last_written(source)), "host": source.host}
    settings, sizes, aliases = list[dict[str, Any]](), list[dict[str, Any]](), 0
    for number_of_line, text in source.lines():
        if ALIAS.match(text):
            aliases += 1
        elif found := DEVICE.match(text):
            settings += [
                common | {"component": "dasd", "name": f"{found['name']}.{key}", "value": found[key]}
                for key in ("bus_id", "status", "type", "block_size")
                if found[key]
            ]
            if (size_mib := number(found["size"] or "")) is not None:
                sizes.append(_reading("size", size_mib * MIB, "bytes", found["name"]))
        elif not HEADING.match(text) and not LEFT_OUT.match(text):
            source.skip(number_of_line, NO_DEVICE)
    if settings:
        yield rows("setting", settings)
        yield rows("statistic", [common | row for row in (*sizes, _reading("aliases", float(aliases), "count", None))])


def _reading(name: str, value: float, unit: str, entity: str | None) -> dict[str, Any]:
    return {"component": "kernel", "name": f"lsdasd.{name}", "value": value, "unit": unit, "kind": "gauge",
            "entity": entity}  # fmt: skip
