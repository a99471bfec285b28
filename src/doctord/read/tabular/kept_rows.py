"""Rows of a table of figures by name: what each line says, by what the table is about."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from doctord.dataset.catalogue import catalogue
from doctord.dataset.waits.events import VENDORS, find
from doctord.read.tabular.kept_headings import Heading, heading, plain
from doctord.read.tabular.kept_lines import Line, Table
from doctord.read.tabular.kept_value import Value, value_of
from doctord.regex import regex

SWITCHES: Final = regex(r"log switch(?:es| interval)?")
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


CENSORED: Final = (">", "≥")
COUNTED: Final = ("requests", "timeouts", "queries")


def column_of_wait(one: Heading) -> str | None:
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
            if one.ago_s == ago_s and (what := column_of_wait(one)) and (value := value_of(line.cells[at]))
        }
        if figures := _wait_figures(told, line.interval_s):
            about = {"db": vendor, "event": event, "wait_class": wait_class or None, "interval_s": line.interval_s}
            yield "wait", about | figures | {"ts": line.at_us - round(ago_s * 1e6)}
    unit = next((one for _, one in table.of("own") if column_of_wait(one) == "avg_wait_ms"), None)
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


def censored(table: Table, lines: Iterable[Line]) -> list[str]:
    """What is told of runs only as more than something: a run that was ended has no length."""
    if table.about != "workload":
        return []
    return [
        f"{line.cells[table.subject]} {line.cells[at]}"
        for line in lines
        for at, _ in table.of("own")
        if line.cells[at].startswith(CENSORED)
    ]


def _workload(table: Table, line: Line) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of `timing` where it took time, else of `statistic`, named by what is not a figure."""
    told = [(one, line.cells[at]) for at, one in table.of("own") if not line.cells[at].startswith(CENSORED)]
    cells = [(one, text, value_of(text)) for one, text in told]
    labels = [line.cells[table.subject], *(text for _, text, value in cells if value is None and text)]
    figures = [(one, value) for one, _, value in cells if value]
    counts = {"over_limit" if one.has("over", "timeouts") else "requests": round(value.number)
              for one, value in figures if one.has(*COUNTED)}  # fmt: skip
    took = [(one, value) for one, value in figures if value.unit == "s" or one.unit == "s"]
    run = ", ".join(labels)
    for one, value in took:
        is_whole = len(took) == 1 or plain(one.text) == "total"
        step = None if is_whole else one.text.removeprefix("step_") if one.unit is None else "_".join(one.words)
        duration_s = value.number * (1.0 if value.unit else one.scale)
        yield "timing", {"run": run, "step": step, "duration_s": duration_s, **(counts if step is None else {})}
    in_time = [one for one, value in figures if value.unit == "s" or one.unit == "s" or one.has(*COUNTED)]
    for one, value in figures:
        if not took or one not in in_time:
            yield "statistic", {"component": "workload", "entity": run, "name": "_".join(one.words) or one.text,
                                "value": _in(one, value), "unit": _unit(one, value), "kind": "gauge"}  # fmt: skip


# What a table is about, and what makes rows of a line of it: the table of the dataset, and its columns.
READERS: Final[dict[str, Callable[[Table, Line], Iterator[tuple[str, dict[str, Any]]]]]] = {
    "wait": _wait,
    "statistic": _statistic,
    "setting": _setting,
    "tablespace": _space,
    "datafile": _datafile,
    "workload": _workload,
}
