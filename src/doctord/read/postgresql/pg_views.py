r"""PostgreSQL's views as people copy them: pg_stat_activity, pg_stat_database, pg_stat_user_tables, pg_locks.

As CSV, by `|`, `;` or tabs, with a heading or without one (then all columns of the view, as versions 9.2 to 18 have
them), as psql's aligned table or line by line (`\x`); several of them in one file. A column of moments beside the
view's own (`now`, `ts`, `epoch`: ISO 8601, or since 1970) makes several samples of one file.

- pg_stat_activity becomes `session`: who is not idle, with wait and times; `\N` and empty cells were not there. The
  text of statements is not kept. A sample stands for the time to the next, of one alone for a second: a note says so.
- pg_locks tells who blocks whom: who holds what another waits for. Of the pids that wait for a lock it makes rows of
  `session` itself where no pg_stat_activity stands in the same file.
- pg_stat_database becomes `statistic` under the names that are collected live: increases from sample to sample, of one
  sample alone the mean since `stats_reset`.
- pg_stat_user_tables becomes `space` (live and dead rows, and a size where a column of bytes is there) and
  `statistic`, of several samples with their increases.

Without a moment the latest time in it is taken, as a query that looks is there itself, else the file's last change.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.secrets import program_name
from doctord.dataset.tables import CLIENT
from doctord.dataset.waits.postgres import classify
from doctord.read.clock import ASSUMED_STEP_S, untimed
from doctord.read.counters import Counters
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.moments import moment_of_cell
from doctord.read.postgresql.psql_table import (
    DELIMITERS,
    FOOTER,
    RECORD,
    RULER,
    Row,
    aligned,
    cells_of,
    expanded,
    separated,
)
from doctord.read.postgresql.view_columns import MOMENTS, layout_of, view_of
from doctord.read.source import SourceFile

NAME = "PostgreSQL's views (pg_stat_activity, pg_stat_database, pg_stat_user_tables, pg_locks)"
RANK = Rank.NAMED
DB: Final = "postgresql"
NULLS: Final = ("", r"\N", "NULL", "null")
TRUE: Final = ("t", "true", "on", "yes", "1")
LOOKED_AT: Final = 40
ONE_SAMPLE: Final = "one sample of sessions: it is taken to stand for {:g} s (--every tells)"
SINCE_RESET: Final = "counters of one sample are means since stats_reset"
NO_RATE: Final = "of one sample of {} no counter has a rate: two samples tell"
NO_MOMENT: Final = "no moment"
OF_A_LOCK: Final = (
    "locktype", "database", "relation", "page", "tuple", "virtualxid", "transactionid", "classid", "objid", "objsubid",
)  # fmt: skip
OF_A_DATABASE: Final = frozenset({"datid", "datname", "numbackends"})
TABLE_GAUGES: Final = {"n_live_tup": "rows", "n_dead_tup": "rows", "n_mod_since_analyze": "rows"}
TABLE_COUNTERS: Final = (
    "seq_scan", "seq_tup_read", "idx_scan", "idx_tup_fetch", "n_tup_ins", "n_tup_upd", "n_tup_del", "n_tup_hot_upd",
    "vacuum_count", "autovacuum_count",
)  # fmt: skip
TABLE_SIZES: Final = ("table_bytes", "total_bytes", "size_bytes", "pg_table_size", "pg_total_relation_size",
                      "pg_relation_size", "relation_size", "total_size", "table_size")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one view, as they stood in one place of the file."""

    view: str
    rows: list[Row] = field(default_factory=list)


def sniff(head: str) -> bool:
    """Whether a heading of one of these views is among its first lines, or its first line is a row of one."""
    lines = [line for line in head.lstrip("\ufeff").splitlines()[:LOOKED_AT] if line.strip()]
    first = lines[0] if lines else ""
    if RECORD.fullmatch(first.strip()):
        end = next((at for at, line in enumerate(lines[1:], 1) if RECORD.fullmatch(line.strip())), len(lines))
        return view_of(frozenset(line.partition("|")[0].strip() for line in lines[1:end])) is not None
    if any(RULER.fullmatch(below.strip()) and _view(line, "|") for line, below in pairwise(lines)):
        return True
    return _separated_view(first) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `session`, `statistic` and `space`."""
    sections = [section for section in _sections(source) if section.rows]
    made = {view: [row for section in sections if section.view == view for row in _placed(source, section)]
            for view in ("pg_stat_activity", "pg_stat_database", "pg_stat_user_tables", "pg_locks")}  # fmt: skip
    locks = _blockers(made["pg_locks"])
    held: dict[str, list[dict[str, Any]]] = {
        "session": _sessions(source, made["pg_stat_activity"], locks) or _waiting(source, made["pg_locks"], locks),
        "statistic": [*_databases(source, made["pg_stat_database"]), *_tables(source, made["pg_stat_user_tables"])],
        "space": [_space(row) for row in made["pg_stat_user_tables"]],
    }
    for table, found in held.items():
        if found:
            yield rows(table, [{"host": source.host, "db": DB} | row for row in found])


def _view(line: str, delimiter: str) -> str | None:
    return view_of(frozenset(cell.strip() for cell in cells_of(line, delimiter)))


def _separated_view(line: str) -> tuple[str, str, tuple[str, ...] | None] | None:
    """The delimiter and view of a first line; and its columns, where it is a row and no heading."""
    for delimiter in DELIMITERS:
        if view := _view(line, delimiter):
            return delimiter, view, None
        if found := layout_of([cell.strip() for cell in cells_of(line, delimiter)]):
            return delimiter, *found
    return None


def _sections(source: SourceFile) -> Iterator[Section]:
    """The tables of a file: psql's, each with heading and ruler; or one by delimiters; or all of it line by line."""
    lines = [(number, text.lstrip("\ufeff")) for number, text in source.lines()]
    lines = [(number, text) for number, text in lines if text.strip() and not FOOTER.fullmatch(text.strip())]
    if lines and RECORD.fullmatch(lines[0][1].strip()):
        for view, found in groupby(expanded(lines), key=lambda row: view_of(frozenset(row[1]))):
            if view:
                yield Section(view, list(found))
    elif begins := [at for at, ((_, line), (_, ruler)) in enumerate(pairwise(lines)) if RULER.fullmatch(ruler.strip())
                    and "|" in line]:  # fmt: skip
        for begin, end in pairwise([*begins, len(lines)]):
            if view := _view(lines[begin][1], "|"):
                below = iter(lines[begin + 2 : end])
                yield Section(view, list(aligned(source, lines[begin][1], lines[begin + 1][1], below)))
    elif lines and (found_view := _separated_view(lines[0][1])):
        delimiter, view, names = found_view
        rest = iter(lines if names else lines[1:])
        columns = list(names or [name.strip() for name in cells_of(lines[0][1], delimiter)])
        yield Section(view, list(separated(source, columns, rest, delimiter)))


@dataclass(frozen=True, slots=True)
class Sample:
    """A row of a view, with what is empty in it left out, when it was, and how long it stands for."""

    at_us: int
    cells: dict[str, str]

    def number(self, name: str) -> float | None:
        """The figure in a column; null where there is none."""
        return number(self.cells[name]) if name in self.cells else None

    def age_s(self, source: SourceFile, *names: str) -> float | None:
        """Seconds since the latest of these times; null where none of them is told."""
        known = [moment for name in names if (moment := _moment(self.cells.get(name), source))]
        return max(0.0, (self.at_us - max(known)) / 1e6) if known else None


def _placed(source: SourceFile, section: Section) -> Iterator[Sample]:
    """The rows with their moment: their own, else the latest that any of them names, else the file's last change."""
    plain = [(line, {name: cell.strip() for name, cell in row.items() if cell.strip() not in NULLS})
             for line, row in section.rows]  # fmt: skip
    column = next((name for name in MOMENTS if any(name in row for _, row in plain)), None)
    latest = None if column else _latest_us(source, [row for _, row in plain])
    for line, row in plain:
        at_us = latest if latest is not None else _moment(row.get(column or ""), source)
        if at_us is None:
            source.skip(line, NO_MOMENT)
        else:
            yield Sample(at_us, row)


def _latest_us(source: SourceFile, found: list[dict[str, str]]) -> int:
    times = [at for row in found for name in ("query_start", "state_change", "xact_start", "waitstart")
             if (at := _moment(row.get(name), source))]  # fmt: skip
    if not times:
        return micros(untimed(source, 1)[0])
    source.note("no moment beside its rows: the latest time in them is taken")
    return max(times)


def _moment(text: str | None, source: SourceFile) -> int | None:
    if not text:
        return None
    try:
        return micros(moment_of_cell(text, source))
    except ValueError:
        return None


def _blockers(locks: Iterable[Sample]) -> dict[tuple[int, str], int]:
    """Who holds what another waits for, by moment and waiting pid."""
    found = list(locks)
    holders = {(row.at_us, *_lock(row)): int(row.number("pid") or 0) for row in found if _is_granted(row)}
    return {
        (row.at_us, row.cells.get("pid", "")): holder
        for row in found
        if not _is_granted(row) and (holder := holders.get((row.at_us, *_lock(row))))
    }


def _lock(row: Sample) -> tuple[str | None, ...]:
    return tuple(row.cells.get(name) for name in OF_A_LOCK)


def _is_granted(row: Sample) -> bool:
    return row.cells.get("granted") in TRUE


def _sessions(source: SourceFile, found: list[Sample], locks: dict[tuple[int, str], int]) -> list[dict[str, Any]]:
    """Rows of `session`: those that are not idle, and did not look themselves."""
    moments = sorted({row.at_us for row in found})
    lengths = _lengths_s(source, moments) if found else {}
    latest_lock = {pid: holder for (_, pid), holder in sorted(locks.items())}
    return [
        _session(source, row, lengths[row.at_us])
        | {"blocker_sid": locks.get((row.at_us, row.cells.get("pid", "")), latest_lock.get(row.cells.get("pid", "")))}
        for row in found
        if _is_at_work(row)
    ]


def _lengths_s(source: SourceFile, moments: list[int]) -> dict[int, float]:
    """How long each sample stands for: to the next; the last as long as the one before."""
    steps = [(later - one) / 1e6 for one, later in pairwise(moments)]
    if not steps:
        source.note(ONE_SAMPLE.format(source.every_s or ASSUMED_STEP_S))
    return dict(zip(moments, chain(steps, [steps[-1] if steps else source.every_s or ASSUMED_STEP_S]), strict=True))


def _is_at_work(row: Sample) -> bool:
    state = row.cells.get("state")
    looks = "pg_stat_activity" in row.cells.get("query", "")
    if state is None:
        waits = row.cells.get("wait_event_type")
        return "backend_type" in row.cells and waits not in {None, "Activity"}
    return state not in {"idle", "disabled"} and not looks


def _session(source: SourceFile, row: Sample, interval_s: float) -> dict[str, Any]:
    cells, kind = row.cells, row.cells.get("backend_type", "client backend")
    waits = (
        ("Lock", "lock") if cells.get("waiting") in TRUE else (cells.get("wait_event_type"), cells.get("wait_event"))
    )
    wait = classify(*waits, kind)
    state = cells.get("state")
    if state and state.startswith("idle in transaction"):
        wait = wait._replace(wait_class="Idle", wait_kind="idle")
    pid = row.number("pid")
    return {
        "ts": row.at_us,
        "interval_s": interval_s,
        "database": cells.get("datname"),
        "sid": None if pid is None else round(pid),
        "pid": None if pid is None else round(pid),
        "serial": _moment(cells.get("backend_start"), source),
        "kind": CLIENT if kind == "client backend" else kind,
        "user": cells.get("usename"),
        "program": program_name(cells.get("application_name", "")),
        "client": cells.get("client_addr"),
        "state": "active" if state == "fastpath function call" else state,
        **wait._asdict(),
        "statement_id": cells.get("query_id"),
        "in_state_s": row.age_s(source, "state_change"),
        "statement_s": row.age_s(source, "query_start"),
        "transaction_s": row.age_s(source, "xact_start"),
    }


def _waiting(source: SourceFile, found: list[Sample], locks: dict[tuple[int, str], int]) -> list[dict[str, Any]]:
    """Rows of `session` of the pids that wait for a lock, where nothing else is known of them."""
    asleep = [row for row in found if not _is_granted(row) and row.cells.get("pid", "").isdecimal()]
    lengths = _lengths_s(source, sorted({row.at_us for row in asleep})) if asleep else {}
    return [
        {
            "ts": row.at_us,
            "interval_s": lengths[row.at_us],
            "sid": int(row.cells["pid"]),
            "pid": int(row.cells["pid"]),
            "kind": CLIENT,
            "state": "active",
            **classify("Lock", row.cells.get("locktype"), "client backend")._asdict(),
            "blocker_sid": locks.get((row.at_us, row.cells["pid"])),
            "in_state_s": row.age_s(source, "waitstart"),
        }
        for row in asleep
    ]


def _databases(source: SourceFile, found: list[Sample]) -> Iterator[dict[str, Any]]:
    """Rows of `statistic` of databases: increases from sample to sample, or of one alone since the reset."""
    counters, several = Counters(), len({row.at_us for row in found}) > 1
    for row in sorted(found, key=lambda row: row.at_us):
        entity = row.cells.get("datname", "shared")
        about = {"ts": row.at_us, "component": DB, "entity": entity}
        if (connections := row.number("numbackends")) is not None:
            yield about | {"name": "pg_stat_database.numbackends", "value": connections, "kind": "gauge"}
        since_s = None if several else row.age_s(source, "stats_reset")
        if since_s:
            source.note(SINCE_RESET)
        for name in row.cells.keys() - OF_A_DATABASE - set(MOMENTS):
            value = row.number(name)
            if value is None:
                continue
            per_s = value / since_s if since_s else counters.per_s((entity, name), row.at_us, value)
            if per_s is not None:
                yield about | {"name": f"pg_stat_database.{name}", "value": per_s, "unit": "per_s", "kind": "rate",
                               "interval_s": since_s}  # fmt: skip


def _tables(source: SourceFile, found: list[Sample]) -> Iterator[dict[str, Any]]:
    """Rows of `statistic` of tables."""
    counters, several = Counters(), len({row.at_us for row in found}) > 1
    if found and not several:
        source.note(NO_RATE.format("pg_stat_user_tables"))
    for row in sorted(found, key=lambda row: row.at_us):
        entity = f"{row.cells.get('datname', 'database')}.{_relation(row)}"
        about = {"ts": row.at_us, "component": DB, "entity": entity}
        gauges = {name: (row.number(name), unit) for name, unit in TABLE_GAUGES.items()}
        gauges["last_vacuum_age_s"] = (row.age_s(source, "last_vacuum", "last_autovacuum"), "s")
        gauges["last_analyze_age_s"] = (row.age_s(source, "last_analyze", "last_autoanalyze"), "s")
        for name, (value, unit) in gauges.items():
            if value is not None:
                yield about | {"name": f"pg_stat_user_tables.{name}", "value": value, "unit": unit, "kind": "gauge"}
        for name in TABLE_COUNTERS:
            value = row.number(name)
            per_s = None if value is None else counters.per_s((entity, name), row.at_us, value)
            if per_s is not None:
                yield about | {"name": f"pg_stat_user_tables.{name}", "value": per_s, "unit": "per_s", "kind": "rate"}


def _relation(row: Sample) -> str:
    return f"{row.cells.get('schemaname', 'public')}.{row.cells.get('relname', '')}"


def _space(row: Sample) -> dict[str, Any]:
    live, dead = row.number("n_live_tup"), row.number("n_dead_tup")
    size = next((value for name in TABLE_SIZES if (value := row.number(name)) is not None), None)
    whole = {"live_rows": live, "dead_rows": dead, "used_bytes": size}
    rounded = {name: None if value is None else round(value) for name, value in whole.items()}
    return {"ts": row.at_us, "database": row.cells.get("datname"), "kind": "table", "name": _relation(row)} | rounded
