"""What a tool prints of the time since boot: means over weeks, which are no figures of the time at which it was asked.

`iostat -x` without an interval prints one such report, and a job that runs it every hour prints the same mean again and
again. It holds no busy hour and no quiet one: nothing is found in it, and no clean bill comes of it. Two of them would
tell the time between if they said how long ago the boot was; they do not.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from doctord.dataset.tables import MEANS_SINCE_BOOT, TABLES

# What was counted since boot; how much memory is free and how many tasks are ready is of the moment.
COUNTED: Final = ("_per_s", "_pct")
ALL_COUNTED: Final = frozenset({"disk"})
# Means of a process are since it began, not since boot.
OF_HOST: Final = frozenset({"cpu", "disk", "memory", "network", "translation"})
UNITS: Final = ("bytes_per_s", "kib_per_s", "per_s", "pct", "ms", "bytes")
WHY: Final = "means since boot are no figures of their times"
HINT: Final = (
    "give the tool an interval and a count: iostat -x 10 7, vmstat 10 7, mpstat 10 6; the first report is then left out"
)


def not_measured() -> dict[str, Any]:
    """The row of `event` that says so."""
    return {"kind": "not measured", "subject": MEANS_SINCE_BOOT, "text": WHY, "hint": HINT}


def set_aside(rows: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows by table, counted since boot: the means become `statistic`, named `since_boot.TABLE.COLUMN`."""
    for table, row in rows:
        if table == "statistic" and row["kind"] == "rate":
            yield table, row | {"name": f"since_boot.{row['name']}", "kind": "gauge"}
        elif table in OF_HOST:
            yield from _apart(table, row)
        else:
            yield table, row


def _apart(table: str, row: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The means of a row, each for itself; then what is left of it, where that is more than what it is about."""
    about = {column: row[column] for column in TABLES[table].entity if column in row}
    entity = " ".join(str(value) for value in about.values() if value is not None) or None
    figures = {column: value for column, value in row.items() if column not in about}
    means = {column for column in figures if table in ALL_COUNTED or column.endswith(COUNTED)}
    for column in sorted(means):
        unit = next((unit for unit in UNITS if column.endswith(unit)), "count")
        yield "statistic", {
            "component": "kernel", "entity": entity, "name": f"since_boot.{table}.{column}", "value": figures[column],
            "unit": unit, "kind": "gauge",
        }  # fmt: skip
    if figures.keys() > means:
        yield table, about | {column: value for column, value in figures.items() if column not in means}
