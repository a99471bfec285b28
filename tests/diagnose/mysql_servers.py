"""Datasets of a MySQL or MariaDB server that is well but for what the arguments change."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import CLIENT
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DB = "mysql:3306"
SECONDS = 20
COMMON: dict[str, Any] = {"host": "h", "db": DB, "interval_s": 1.0}
ACTIVE: dict[str, Any] = {
    "kind": CLIENT, "state": "active", "wait_class": "CPU", "event": "CPU", "wait_kind": "cpu", "user": "app",
}  # fmt: skip

SAMPLED = {"wait_class": "CPU", "event": "CPU", "wait_kind": "cpu", "average_active_sessions": 0.1}


def mysql(
    *,
    sessions: Iterable[Mapping[str, Any]] = (),
    rates: Mapping[str, float] | None = None,
    gauges: Mapping[tuple[str | None, str], float] | None = None,
    entities: Mapping[tuple[str, str], float] | None = None,
    settings: Mapping[str, str] | None = None,
    statements: Iterable[Mapping[str, Any]] = (),
    events: Iterable[Mapping[str, Any]] = (),
    idle_pct: float = 60.0,
    source: str = "default",
    waits: bool = False,
) -> Dataset:
    """Twenty seconds of a server.

    Args:
        sessions: what each sampled session does all the time, changes to one that is on a CPU.
        rates: figures per second by name.
        gauges: readings by entity and name.
        entities: figures per second by entity and name.
        settings: the server's variables.
        statements: rows of `statement`.
        events: what happened in the middle.
        idle_pct: of the host's CPUs.
        source: what set the variables.
        waits: whether the sampler tells its sums, as it does live.
    """
    own = [ACTIVE | {"sid": 100 + number} | dict(one) for number, one in enumerate(sessions)]
    rows = [{"name": name, "value": value, "kind": "rate", "unit": "per_s"} for name, value in (rates or {}).items()]
    rows += [
        {"name": name, "entity": entity, "value": value, "kind": "gauge"}
        for (entity, name), value in (gauges or {}).items()
    ]
    rows += [
        {"name": name, "entity": entity, "value": value, "kind": "rate", "unit": "per_s"}
        for (entity, name), value in (entities or {}).items()
    ]
    moments = [COMMON | {"ts": NOON + timedelta(seconds=second)} for second in range(1, SECONDS + 1)]
    return Dataset.from_rows(
        session=[moment | one for moment in moments for one in own],
        statistic=[moment | {"component": "mysql"} | row for moment in moments for row in rows],
        statement=[moment | dict(one) for moment in moments for one in statements],
        cpu=[{**moment, "db": None, "usr_pct": 100 - idle_pct, "idle_pct": idle_pct} for moment in moments],
        wait=[moment | SAMPLED for moment in moments if waits],
        event=[
            {"ts": NOON + timedelta(seconds=SECONDS / 2), "host": "h", "db": DB, "subject": DB} | dict(one)
            for one in events
        ],
        setting=[
            {"ts": NOON, "host": "h", "component": "mysql", "db": DB, "name": name, "value": value, "source": source}
            for name, value in (settings or {}).items()
        ],
    )


def found(dataset: Dataset) -> dict[str, Finding]:
    """The findings by cause, of several of one cause the worst."""
    findings = diagnose(dataset).findings
    return {finding.cause: finding for finding in reversed(findings)}
