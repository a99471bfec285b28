"""Rows of `session` of pg_stat_activity and pg_locks: who is at work, who waits, and for whom."""

from collections.abc import Iterable
from itertools import chain, pairwise
from typing import Any, Final

from doctord.dataset.secrets import program_name
from doctord.dataset.tables import CLIENT
from doctord.dataset.waits.postgres import classify
from doctord.read.clock import ASSUMED_STEP_S
from doctord.read.postgresql.view_samples import Sample, moment_us
from doctord.read.source import SourceFile

TRUE: Final = ("t", "true", "on", "yes", "1")
ONE_SAMPLE: Final = "one sample of sessions: it is taken to stand for {:g} s (--every tells)"
OF_A_LOCK: Final = (
    "locktype", "database", "relation", "page", "tuple", "virtualxid", "transactionid", "classid", "objid", "objsubid",
)  # fmt: skip


def blockers(locks: Iterable[Sample]) -> dict[tuple[int, str], int]:
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


def sessions(source: SourceFile, found: list[Sample], locks: dict[tuple[int, str], int]) -> list[dict[str, Any]]:
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
        "serial": moment_us(cells.get("backend_start"), source),
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


def waiting(source: SourceFile, found: list[Sample], locks: dict[tuple[int, str], int]) -> list[dict[str, Any]]:
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
