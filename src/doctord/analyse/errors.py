"""Errors as the logs of servers tell them: how often each message came, and since when."""

from dataclasses import dataclass
from datetime import datetime

import polars as pl

from doctord.analyse.sql.sqlstates import of_message
from doctord.dataset.dataset import Dataset

LOGGED = "log.errors"
IN_ALL = f"in_all.{LOGGED}"  # of a log that tells no times
# By who met them, behind the message.
FROM, WITHIN, WHO = "log.errors_from", "log.errors_in", " | "
# Severities that end a statement, a session or a server; a warning ends none.
FAILED = ("ERROR", "FATAL", "PANIC")
CODE = r"^\w+ ([0-9A-Z]{5}|MY-\d+) "


@dataclass(frozen=True, slots=True)
class Logged:
    """One message of one server's log, values left out: `code` is its SQLSTATE or number, null where none is logged.

    `severity` is the server's own word; `count` is how often it came from the `first` interval to the `last`, which
    are null where the log tells no times.
    """

    db: str
    severity: str
    code: str | None
    message: str
    entity: str
    count: float
    first: datetime | None
    last: datetime | None

    @property
    def state(self) -> str | None:
        """The SQLSTATE, where none is logged by the words of the message; null where these are not known."""
        return self.code or of_message(self.message)


def logged(dataset: Dataset) -> list[Logged]:
    """Messages of logs that tell of an error or a warning, the most frequent first."""
    return dataset.derived("statistic", _logged_in)


def _logged_in(statistic: pl.DataFrame) -> list[Logged]:
    """All at once: each cause that is about errors asks for them."""
    rows = statistic.filter(pl.col("name").is_in([LOGGED, IN_ALL])).drop_nulls(["db", "entity", "value"])
    moment = pl.when(pl.col("name") == LOGGED).then(pl.col("ts"))
    counted = (
        rows.group_by("db", "entity", maintain_order=True)
        .agg(
            pl.when(pl.col("name") == LOGGED)
            .then(pl.col("value") * pl.col("interval_s"))
            .otherwise("value")
            .sum()
            .alias("count"),
            moment.min().alias("first"),
            moment.max().alias("last"),
        )
        .with_columns(code=pl.col("entity").str.extract(CODE), severity=pl.col("entity").str.extract(r"^(\w+)"))
        .sort("count", "db", "entity", descending=[True, False, False], maintain_order=True)
    )
    return [_logged(row) for row in counted.iter_rows(named=True)]


def met(dataset: Dataset, one: Logged) -> list[tuple[str, float]]:
    """Who met a message and how often, the most frequent first; empty where the log does not tell."""
    return _by(dataset, FROM, one)


def within(dataset: Dataset, one: Logged) -> list[tuple[str, float]]:
    """The functions that a message came from, where in them, and how often; likewise."""
    return _by(dataset, WITHIN, one)


def _by(dataset: Dataset, name: str, one: Logged) -> list[tuple[str, float]]:
    counts = dataset.derived("statistic", _parted).get((name, one.db, one.entity), {})
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _parted(statistic: pl.DataFrame) -> dict[tuple[str, str, str], dict[str, float]]:
    """By figure, server and message how often it was of each: of those who met it, of functions."""
    name = pl.col("name").str.strip_prefix("in_all.")
    rows = statistic.filter(name.is_in([FROM, WITHIN])).drop_nulls(["db", "entity", "value"])
    counted = rows.with_columns(
        figure=name,
        count=pl.when(pl.col("name").str.starts_with("in_all."))
        .then("value")
        .otherwise(pl.col("value") * pl.col("interval_s")),
    ).select("figure", "db", "entity", "count")
    found = dict[tuple[str, str, str], dict[str, float]]()
    for figure, db, entity, count in counted.iter_rows():
        message, _, of = entity.rpartition(WHO)
        by = found.setdefault((figure, db, message), {})
        by[of] = by.get(of, 0.0) + count
    return found


def failures(messages: list[Logged]) -> list[Logged]:
    """The messages of severity ERROR, FATAL or PANIC, which end a statement, a session, or all of them."""
    return [one for one in messages if one.severity in FAILED]


def _logged(row: dict[str, object]) -> Logged:
    entity, code, severity = str(row["entity"]), row["code"], str(row["severity"] or "")
    message = entity.removeprefix(severity).strip().removeprefix(str(code or "")).strip()
    first, last = row["first"], row["last"]
    return Logged(
        db=str(row["db"]),
        severity=severity,
        code=None if code is None else str(code),
        message=message,
        entity=entity,
        count=float(str(row["count"])),
        first=first if isinstance(first, datetime) else None,
        last=last if isinstance(last, datetime) else None,
    )
