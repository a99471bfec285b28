"""Reports of pt-query-digest (Percona Toolkit): the statements of a slow query log, most time first.

Tables: `statement` (calls and time of the profile, rows sent and affected, the text without its constants, named by its
query ID; what the report does not list stands together as `MISC`), and `statistic`, the entity a statement's ID:
`slow_log.rows_examined` and `slow_log.lock_time`, as the slow query log itself has them. All rates are over the time
range of the report, whose sizes and counts are in thousands of 1024.

All figures are of the statements that were slow enough to be logged. Left out: deviations, the distribution of times
(drawn, not counted), hosts and users.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.scrub import scrub
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.moments import moment_of_cell
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "pt-query-digest"
RANK = Rank.NAMED
DB: Final = "mysql"
OVERALL: Final = regex(r"^# Overall: \S+ total, \S+ unique", re.MULTILINE)
RANKED: Final = regex(r"# +(?:\d+|MISC) (?:0x)?(?P<id>\w+) +(?P<s>[\d.]+) +[\d.]+% +(?P<calls>\d+) ")
QUERY: Final = regex(r"# (?:Query|Item) \d+: .*\bID (?:0x)?(\w+)")
FIGURE: Final = regex(r"# (Rows sent|Rows affecte|Rows examine|Lock time) +\d+ +([\d.]+)(\w*)")
RANGE: Final = regex(
    r"# Time range: (\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)\S* to (?:(\d{4}-\d\d-\d\d)[T ])?(\d\d:\d\d:\d\d)"
)
AT_ONCE: Final = regex(r"# Time range: all events occurred at (\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)")
HOST: Final = regex(r"^# Hostname: (\S+)", re.MULTILINE)
SCALES: Final = {"": 1.0, "k": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4,
                 "s": 1.0, "ms": 1e-3, "us": 1e-6, "m": 60.0, "h": 3600.0, "d": 86400.0}  # fmt: skip
STATISTICS: Final = {
    "Rows examine": ("slow_log.rows_examined", "per_s"),
    "Lock time": ("slow_log.lock_time", "s_per_s"),
}


@dataclass
class Query:
    """A statement: how often it ran and how long in all (null of what is not in the profile), its figures, its text."""

    calls: float | None = None
    elapsed_s: float | None = None
    figures: dict[str, float] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)


def sniff(head: str) -> bool:
    """Whether the line of the whole is in it, as the report begins, whatever stands above."""
    return OVERALL.search(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statement` and `statistic`."""
    host = HOST.search(source.head)
    source.host = host[1] if host else source.host
    queries, covered = _queries(source)
    end, length_s = covered or (untimed(source, 1)[0], sum(query.elapsed_s or 0.0 for query in queries.values()) or 1.0)
    about = {"ts": micros(end), "interval_s": length_s, "host": source.host, "db": DB}
    yield rows("statement", [about | _statement(key, query, length_s) for key, query in queries.items()])
    yield rows("statistic", [about | one for key, query in queries.items() for one in _figures(key, query, length_s)])


def _queries(source: SourceFile) -> tuple[dict[str, Query], tuple[datetime, float] | None]:
    """The statements by their ID, and when the whole ended and how long it was."""
    queries: dict[str, Query] = {}
    covered: tuple[datetime, float] | None = None
    query: Query | None = None
    is_text = False
    for number, line in source.lines():
        if found := RANKED.match(line):
            ranked = queries.setdefault(found["id"], Query())
            ranked.calls, ranked.elapsed_s = float(found["calls"]), float(found["s"])
        elif found := QUERY.match(line):
            query, is_text = queries.setdefault(found[1], Query()), True
        elif query is None and line.startswith("# Time range"):
            covered = covered or _covered(line, number, source)
        elif query and (found := FIGURE.match(line)):
            query.figures[found[1]] = float(found[2]) * SCALES.get(found[3], 1.0)
        elif query and is_text and line.strip() and not line.startswith("#"):
            query.text.append(line.removesuffix("\\G"))
        elif query and query.text:
            is_text = False  # what follows is the same again, for explain
    return queries, covered


def _covered(line: str, number: int, source: SourceFile) -> tuple[datetime, float] | None:
    try:
        if once := AT_ONCE.match(line):
            return moment_of_cell(f"{once[1]}T{once[2]}", source), 1.0
        if found := RANGE.match(line):
            begin = moment_of_cell(f"{found[1]}T{found[2]}", source)
            end = moment_of_cell(f"{found[3] or found[1]}T{found[4]}", source)
            return end, max((end - begin) / timedelta(seconds=1), 1.0)
    except ValueError:
        pass
    source.skip(number, "no range of time")
    return None


def _statement(key: str, query: Query, length_s: float) -> dict[str, Any]:
    sent = [query.figures[name] for name in ("Rows sent", "Rows affecte") if name in query.figures]
    text = scrub("\n".join(query.text), "mysql") if query.text else None
    return {
        "statement_id": key,
        "text": text,
        "calls_per_s": None if query.calls is None else query.calls / length_s,
        "elapsed_s_per_s": None if query.elapsed_s is None else query.elapsed_s / length_s,
        "rows_per_s": sum(sent) / length_s if sent else None,
    }


def _figures(key: str, query: Query, length_s: float) -> Iterator[dict[str, Any]]:
    for called, (name, unit) in STATISTICS.items():
        if called in query.figures:
            value = query.figures[called] / length_s
            yield {"component": "mysql", "entity": key, "name": name, "value": value, "unit": unit, "kind": "rate"}
