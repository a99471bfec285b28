"""Tables of figures by name, as people keep them in CSV, without a mapping: what a column is, its heading says.

One column says whom a row is about: `event` (wait events), `statistic`, `setting` or `parameter`, `tablespace`,
`datafile`, or of a test `run`, `case`, `step`, `class` and the like. The others hold figures, with their units in the
heading (`before_avg_ms`, `used_mb`, `iops_per_day`) or in the cell (`12ms`, `30%`, `500M`, `1 per 7 minutes`).

- `wait`: waits per second or in sum, time waited, mean wait, by `date` or as they are. The server is known by its
  events (`oracle`). `d90_cs`, `d7_cs`, `today_cs` are means of so many days ago.
- `statistic`: figures by name. Names of V$SYSSTAT are of component `oracle` and get that view before them; other
  figures are of component `noted`; those of runs and cases, of datafiles, of `workload` and `datafile`.
- `setting`: what is set; names that a vendor knows are of its component, others of `noted`.
- `space`: used and available bytes of tablespaces. `timing`: runs with how long they took (`h:mm:ss` too), and how many
  of their requests went over a limit.
- A column `target`, `threshold`, `limit` or `goal` holds what the keeper wants at the most: rows of `statistic`,
  component `target`, under the name of the figure, whose entity is that of the wait event.

Of a table with two states (`before` and `after`) the first is read: a note says so. Without dates all rows are of the
file's last change. A cell without a figure was not measured, and is not zero.
"""

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.catalogue import catalogue
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import NOTED
from doctord.dataset.waits.events import VENDORS, find
from doctord.read.clock import ASSUMED_STEP_S, untimed
from doctord.read.format import Rank
from doctord.read.moments import moment_of_cell
from doctord.read.source import SourceFile
from doctord.read.tabular.kept_headings import Heading, heading, plain, subject_of
from doctord.read.tabular.kept_value import Value, value_of

NAME = "tables of figures by name (CSV)"
RANK = Rank.SHAPE
SEPARATORS: Final = ",;\t|"
NAMED: Final = re.compile(r"\s*\w[\w .%/#()<>=-]{0,39}\s*")
DATES: Final = ("date", "day")
# A table with these is another format's, or a series in time.
NOT_OURS: Final = frozenset({"ts", "time", "timestamp", "name", "pid"})
OTHER_STATE: Final = "of two states the first is read ({}), the other left: {}"
NO_CPU: Final = "no CPU time is among its waits: shares are of the time that was waited"
NO_INTERVAL: Final = "no interval is told: its rates are taken to be of {:g} s (--every tells)"
AS_MANY: Final = "not as many cells as headings"
NO_DATE: Final = "no date"
SWITCHES: Final = re.compile(r"log switch(?:es| interval)?")
SWITCH_STATISTIC: Final = "thread_activity.log switches (derived)"
# Names of V$SYSSTAT that no other vendor has: one of them says that a table is Oracle's.
OF_SYSSTAT: Final = frozenset(
    {
        "redo size", "redo writes", "redo entries", "redo synch writes", "redo synch time", "redo wastage",
        "redo log space requests", "redo buffer allocation retries", "user commits", "user calls", "execute count",
        "parse count (total)", "parse count (hard)", "session logical reads", "db block changes", "consistent gets",
        "physical reads", "physical writes", "db time", "cpu used by this session", "sorts (disk)",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: its number, its cells by column, and when it was."""

    number: int
    cells: list[str]
    at_us: int
    interval_s: float | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table by its headings.

    Attributes:
        subject: The column that says whom a row is about.
        about: What that is (see SUBJECTS).
        headings: Of all columns.
        names: Whom the rows are about, in small letters.
    """

    subject: int
    about: str
    headings: list[Heading]
    names: tuple[str, ...] = ()

    def column(self, *texts: str) -> int | None:
        """The column of one of these headings."""
        return next((at for at, one in enumerate(self.headings) if plain(one.text) in texts), None)

    def of(self, state: str) -> list[tuple[int, Heading]]:
        """The columns of figures of a state: `own`, `limit` or `other`."""
        named = {self.subject, self.column(*DATES), self.column("class", "wait class"), self.column("unit")}
        two = any(one.state == "first" for one in self.headings)
        asked = {"own": {"own", "first"} if two else {"own", "other"}, "other": {"other"} if two else set()}
        wanted = asked.get(state, {state})
        return [(at, one) for at, one in enumerate(self.headings) if one.state in wanted and at not in named]


def sniff(head: str) -> bool:
    """Whether its first line names whom rows are about, and the second has a figure of it."""
    lines = [line for line in head.lstrip("\ufeff").splitlines()[:20] if line.strip()][:2]
    if len(lines) < 2:
        return False
    separator = _separator(lines[0])
    names, cells = _cells(lines[0], separator), _cells(lines[1], separator)
    found = subject_of(names)
    if found is None or len(cells) != len(names) or len(names) < 2 or not all(NAMED.fullmatch(name) for name in names):
        return False
    if NOT_OURS & {plain(name) for name in names} or len(set(names)) < len(names):
        return False
    table = Table(*found, [heading(name) for name in names])
    if table.about == "wait":
        return any(_column_of_wait(one) for _, one in table.of("own"))
    if table.about == "tablespace":
        return any(one.unit == "bytes" for _, one in table.of("own"))
    return table.about == "setting" or any(value_of(cells[at].strip()) for at, _ in table.of("own"))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `wait`, `statistic`, `setting`, `space` or `timing`."""
    first = next((line for line in source.head.lstrip("\ufeff").splitlines() if line.strip()), "")
    names = _cells(first, _separator(first))
    found = subject_of(names)
    if found is None:
        return
    table = Table(*found, [heading(name) for name in names])
    lines = list(_lines(source, table, _separator(first)))
    table = replace(table, names=tuple(line.cells[table.subject].lower() for line in lines))
    if other := [one.text for _, one in table.of("other")]:
        source.note(OTHER_STATE.format(", ".join(one.text for _, one in table.of("own")), ", ".join(other)))
    held: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        for name, row in _READERS[table.about](table, line):
            held.setdefault(name, []).append({"ts": line.at_us, "host": source.host} | row)
    if "wait" in held and not any(row["event"] == "CPU" for row in held["wait"]):
        source.note(NO_CPU)
    for row in held.get("setting", ()):
        row |= {"source": NOTED, "source_file": source.name}
    for name, of_table in held.items():
        yield rows(name, of_table)


def _separator(line: str) -> str:
    return max(SEPARATORS, key=line.count)


def _cells(line: str, separator: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return []


def _lines(source: SourceFile, table: Table, separator: str) -> Iterator[Line]:
    """The lines below the heading; those by date cover the time from one date to the next."""
    dates = table.column(*DATES)
    at_us = micros(untimed(source, 1)[0]) if dates is None else None
    found = list[tuple[int, list[str], int]]()
    for number, text in source.lines():
        cells = _cells(text.lstrip("\ufeff"), separator)
        if not any(cells) or cells == [one.text for one in table.headings]:
            continue
        if len(cells) != len(table.headings):
            source.skip(number, AS_MANY)
            continue
        try:
            found.append((number, cells, at_us or micros(moment_of_cell(cells[dates or 0], source))))
        except ValueError:
            source.skip(number, NO_DATE)
    moments = sorted({at for _, _, at in found})
    steps = [later - one for one, later in pairwise(moments)]
    interval_s = min(steps) / 1e6 if steps else None
    if dates is None and table.about == "wait" and any(one.per_s for _, one in table.of("own")):
        interval_s = source.every_s or ASSUMED_STEP_S
        source.note(NO_INTERVAL.format(interval_s))
    for number, cells, at in found:
        yield Line(number, cells, at, interval_s)


def _column_of_wait(one: Heading) -> str | None:
    """What a column of wait events measures: a column of `wait`, `waits` or `waited_s` in sum; null if unknown."""
    if one.unit == "s":
        return "avg_wait_ms" if one.is_mean or not one.words else "waited_s" if one.has("waited") else None
    if one.has("timeouts"):
        return "timeouts_per_s" if one.per_s else "timeouts"
    if one.has("waits"):
        return "waits_per_s" if one.per_s else "waits"
    return None


def _vendor(event: str) -> str | None:
    return next((vendor for vendor in VENDORS if find(vendor, event)), None)


def _wait(table: Table, line: Line) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of `wait`, one for each age that is told, and what is wanted of the event."""
    event = line.cells[table.subject]
    vendor = next((vendor for name in (event, *table.names) if (vendor := _vendor(name))), None)
    known = find(vendor, event) if vendor else None
    classes = table.column("wait class", "class")
    wait_class = line.cells[classes] if classes is not None else known.wait_class if known else None
    for ago_s in {one.ago_s: None for _, one in table.of("own")}:
        told = {
            what: value.number * one.scale / (one.per_s or 1.0)
            for at, one in table.of("own")
            if one.ago_s == ago_s and (what := _column_of_wait(one)) and (value := value_of(line.cells[at]))
        }
        if figures := _wait_figures(told, line.interval_s):
            about = {"db": vendor, "event": event, "wait_class": wait_class or None, "interval_s": line.interval_s}
            yield "wait", about | figures | {"ts": line.at_us - round(ago_s * 1e6)}
    unit = next((one for _, one in table.of("own") if _column_of_wait(one) == "avg_wait_ms"), None)
    for at, _ in table.of("limit"):
        if value := value_of(line.cells[at]):
            limit_ms = value.number * (1.0 if value.unit == "s" else unit.scale if unit else 1e-3) * 1000
            yield "statistic", _target("wait.avg_wait_ms", limit_ms, "ms", event)


def _wait_figures(told: dict[str, float], interval_s: float | None) -> dict[str, float]:
    """Columns of `wait` of what a line tells, sums among it as rates where the interval is known."""
    figures: dict[str, float] = {name: told[name] for name in ("waits_per_s", "timeouts_per_s") if name in told}
    if "avg_wait_ms" in told:
        figures["avg_wait_ms"] = told["avg_wait_ms"] * 1000
    if interval_s:
        sums = {"waits_per_s": "waits", "timeouts_per_s": "timeouts", "average_active_sessions": "waited_s"}
        figures |= {name: told[total] / interval_s for name, total in sums.items() if total in told}
    if "average_active_sessions" not in figures and {"waits_per_s", "avg_wait_ms"} <= figures.keys():
        figures["average_active_sessions"] = figures["waits_per_s"] * figures["avg_wait_ms"] / 1000
    return figures


def _target(name: str, value: float, unit: str | None, entity: str | None = None) -> dict[str, Any]:
    return {"component": "target", "name": name, "value": value, "unit": unit, "entity": entity, "kind": "gauge"}


def _statistic(table: Table, line: Line) -> Iterator[tuple[str, dict[str, Any]]]:
    """A row of `statistic`, and what is wanted of it."""
    is_oracle = not OF_SYSSTAT.isdisjoint(table.names)
    units = table.column("unit")
    unit = heading(line.cells[units]) if units is not None else heading("value")
    name = line.cells[table.subject]
    about = {"component": "oracle" if is_oracle else "noted", "db": "oracle" if is_oracle else None}
    about["name"] = name = f"v$sysstat.{name}" if is_oracle else name
    for at, _ in table.of("own"):
        if value := value_of(line.cells[at]):
            kind = "rate" if unit.per_s or value.unit == "per_s" else "gauge"
            yield "statistic", about | {"value": _in(unit, value), "unit": _unit(unit, value), "kind": kind}
    for at, _ in table.of("limit"):
        if value := value_of(line.cells[at]):
            yield "statistic", _target(name, _in(unit, value), _unit(unit, value))


def _in(unit: Heading, value: Value) -> float:
    """A value by the unit that stands beside it, where it has none of its own."""
    return value.number if value.unit else value.number * unit.scale / (unit.per_s or 1.0)


def _unit(unit: Heading, value: Value) -> str | None:
    named = value.unit or unit.unit
    return named if not unit.per_s or value.unit else f"{named}_per_s" if named else "per_s"


def _setting(table: Table, line: Line) -> Iterator[tuple[str, dict[str, Any]]]:
    """A row of `setting`; of what is a rate, a time or a share, and of no known name, a row of `statistic`."""
    name = line.cells[table.subject]
    component = _component(table, name)
    for at, one in table.of("own")[:1]:
        text = re.sub(r"\s*\(.*\)$", "", line.cells[at])
        value = value_of(text)
        is_figure = value is not None and (
            value.unit in {"per_s", "s", "pct"} or plain(table.headings[table.subject].text) == "parameter"
        )
        if value and component is None and is_figure:
            yield from _noted(name, value, one)
        elif text:
            size = value if value and value.unit == "bytes" else None
            yield (
                "setting",
                {
                    "component": component or "noted",
                    "db": component,
                    "name": name,
                    "value": f"{size.number:.0f}" if size else text,
                    "unit": "bytes" if size else None,
                    "line": line.number,
                },
            )
    for at, one in table.of("limit"):
        if value := value_of(line.cells[at]):
            yield "statistic", _target(name, _in(one, value), _unit(one, value))


def _component(table: Table, name: str) -> str | None:
    """Whose setting a name is, by whose names most of the table's are; null where it is nobody's."""
    known = {vendor: sum(one in catalogue(vendor) for one in table.names) for vendor in VENDORS}
    vendor = max(known, key=lambda vendor: known[vendor])
    is_its = name.lower() in catalogue(vendor) or (vendor == "oracle" and name.startswith("_"))
    return vendor if known[vendor] and is_its else None


def _noted(name: str, value: Value, one: Heading) -> Iterator[tuple[str, dict[str, Any]]]:
    switches = value.unit == "per_s" and SWITCHES.fullmatch(name.lower())
    about: dict[str, Any] = {"component": "oracle", "db": "oracle", "name": SWITCH_STATISTIC} if switches else {
        "component": "noted", "name": name
    }  # fmt: skip
    kind = "rate" if value.unit == "per_s" else "gauge"
    yield "statistic", about | {"value": _in(one, value), "unit": _unit(one, value), "kind": kind}


def _space(table: Table, line: Line) -> Iterator[tuple[str, dict[str, Any]]]:
    """A row of `space` of a tablespace."""
    sizes = {
        word: round(value.number * (1.0 if value.unit else one.scale))
        for at, one in table.of("own")
        if one.unit == "bytes" and one.words and (value := value_of(line.cells[at]))
        for word in one.words[:1]
    }
    left = sizes.get("available", sizes.get("free"))
    if left is None and "used" in sizes and (whole := sizes.get("size", sizes.get("total"))) is not None:
        left = whole - sizes["used"]
    about = {"kind": "tablespace", "name": line.cells[table.subject], "db": "oracle"}
    if left is not None or "used" in sizes:
        yield "space", about | {"used_bytes": sizes.get("used"), "available_bytes": left}


def _datafile(table: Table, line: Line) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, one in table.of("own"):
        if value := value_of(line.cells[at]):
            about = {"component": "datafile", "entity": line.cells[table.subject], "name": "_".join(one.words)}
            yield "statistic", about | {"value": _in(one, value), "unit": _unit(one, value), "kind": "gauge"}


def _workload(table: Table, line: Line) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of `timing` where it took time, else of `statistic`, named by what is not a figure."""
    cells = [(one, line.cells[at], value_of(line.cells[at])) for at, one in table.of("own")]
    labels = [line.cells[table.subject], *(text for _, text, value in cells if value is None and text)]
    figures = [(one, value) for one, _, value in cells if value]
    counts = {"over_limit" if one.has("over", "timeouts") else "requests": round(value.number)
              for one, value in figures if one.has("requests", "timeouts", "queries")}  # fmt: skip
    took = [(one, value) for one, value in figures if value.unit == "s" or one.unit == "s"]
    run = ", ".join(labels)
    for one, value in took:
        is_whole = len(took) == 1 or plain(one.text) == "total"
        step = None if is_whole else one.text.removeprefix("step_") if one.unit is None else "_".join(one.words)
        duration_s = value.number * (1.0 if value.unit else one.scale)
        yield "timing", {"run": run, "step": step, "duration_s": duration_s, **(counts if step is None else {})}
    for one, value in figures if not took else ():
        yield "statistic", {"component": "workload", "entity": run, "name": "_".join(one.words) or one.text,
                            "value": _in(one, value), "unit": _unit(one, value), "kind": "gauge"}  # fmt: skip


_READERS: Final[dict[str, Callable[[Table, Line], Iterator[tuple[str, dict[str, Any]]]]]] = {
    "wait": _wait,
    "statistic": _statistic,
    "setting": _setting,
    "tablespace": _space,
    "datafile": _datafile,
    "workload": _workload,
}
