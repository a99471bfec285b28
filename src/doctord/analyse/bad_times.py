"""When it was bad: the minutes of a recording in which a server's sessions piled up, or its transactions stopped."""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.spells import LASTING
from doctord.analyse.time import SAMPLED, active_sessions
from doctord.analyse.vitals import SCALE_OF_MAD, SELDOM
from doctord.dataset.common_statistics import names_of
from doctord.dataset.dataset import Dataset

WINDOW_S: Final = 60.0
# With fewer minutes nobody knows what is usual.
FEWEST_WINDOWS: Final = 20
# One minute may be a checkpoint or a job that starts.
FEWEST_BAD: Final = 2
# One that is as usual between two bad ones does not part them.
BRIDGED: Final = 2
MOST: Final = 3
# Sessions pile up where there are twice as many as usual and one more; transactions stop where a fifth is left.
TIMES, MORE = 2.0, 1.0
LEFT: Final = 0.2
LEAST_PER_S: Final = 1.0


class BadTime(NamedTuple):
    """A time on end, in whole minutes, in which the server `db` suffered."""

    db: str
    since: datetime
    until: datetime


def bad_times(dataset: Dataset) -> list[BadTime]:
    """The times that a verdict on the whole would average away, in their order; none where it is as bad throughout.

    Args:
        dataset: with samples of `session`, or rates of commits in `statistic`, over twenty minutes and more.

    Returns:
        Of each server and sign at most three, by sessions at work beyond the usual, or by transactions that are
        missing; what overlaps is one. Usual is the median; beyond it are four robust standard deviations (1.4826 times
        the median absolute deviation; Hampel, "The influence curve and its role in robust estimation", 1974). What
        takes a quarter of the time and more is not apart from the whole.
    """
    found = []
    for db, rows in _active(dataset):
        usual, high = _usual(rows["value"])
        limit = max(high, TIMES * usual, usual + MORE)
        found += _spells(db, rows.with_columns(excess=pl.when(pl.col("value") > limit).then(pl.col("value") - usual)))
    for db, rows in _committed(dataset):
        usual, _ = _usual(rows["value"])
        is_low = (pl.col("value") < LEFT * usual) & (usual >= LEAST_PER_S)
        found += _spells(db, rows.with_columns(excess=pl.when(is_low).then(usual - pl.col("value"))))
    return _joined(found)


def _usual(values: pl.Series) -> tuple[float, float]:
    """The median, and what is seldom passed."""
    median = float(values.median() or 0.0)  # type: ignore[arg-type]
    deviation = float((values - median).abs().median() or 0.0) * SCALE_OF_MAD  # type: ignore[arg-type]
    return median, median + SELDOM * deviation


def _active(dataset: Dataset) -> list[tuple[str, pl.DataFrame]]:
    """Active sessions on average in each minute in which a server was looked at, of each server: `window`, `value`.

    A collector tells what was waited for each second, be it nothing; of other sources it is known from their first
    sample of a session to their last, whatever else was measured for longer.
    """
    busy = (
        active_sessions(dataset)
        .group_by("db", _window(), maintain_order=True)
        .agg(value=pl.col("interval_s").sum() / WINDOW_S)
    )
    told = dataset.rows("wait", pl.sql_expr(SAMPLED), "db", "ts").select("db", _window()).unique(maintain_order=True)
    found = []
    for (db,), rows in busy.partition_by("db", as_dict=True, include_key=False).items():
        looked = told.filter(pl.col("db") == db).select("window")
        if looked.is_empty():
            looked = rows.select(pl.int_range(pl.col("window").min(), pl.col("window").max() + 1).alias("window"))
        measured = looked.join(rows, on="window", how="left", maintain_order="left")
        found.append((str(db), measured.with_columns(pl.col("value").fill_null(0.0))))
    return found


def _committed(dataset: Dataset) -> list[tuple[str, pl.DataFrame]]:
    """Commits a second in each minute in which they were counted, of each server: `window`, `value`."""
    rates = dataset.frame("statistic").filter(pl.col("name").is_in(names_of("commits")) & (pl.col("interval_s") > 0))
    counted = rates.group_by("db", "entity", _window(), maintain_order=True).agg(value=pl.col("value").mean())
    summed = counted.group_by("db", "window", maintain_order=True).agg(pl.col("value").sum())
    return [(str(db), rows) for (db,), rows in summed.partition_by("db", as_dict=True, include_key=False).items()]


def _window() -> pl.Expr:
    """The minute that a row ends in, numbered from 1970 on: what ends on the minute belongs to the one before."""
    return ((pl.col("ts").dt.epoch("us") - 1) // round(WINDOW_S * 1_000_000)).alias("window")


def _spells(db: str, rows: pl.DataFrame) -> list[BadTime]:
    """Minutes on end that have an excess, the worst three; a single minute between two belongs to them."""
    bad = rows.filter(pl.col("excess").is_not_null()).sort("window", maintain_order=True)
    if rows.height < FEWEST_WINDOWS or bad.height >= LASTING * rows.height:
        return []
    is_new = (pl.col("window").diff() > BRIDGED).fill_null(value=True).cum_sum()
    spells = bad.group_by(is_new.alias("spell"), maintain_order=True).agg(
        first=pl.col("window").min(), last=pl.col("window").max(), bad=pl.len(), excess=pl.col("excess").sum()
    )
    worst = (
        spells.filter(pl.col("bad") >= FEWEST_BAD)
        .sort("excess", "first", descending=[True, False], maintain_order=True)
        .head(MOST)
    )
    return [BadTime(db, _moment(first), _moment(last + 1)) for first, last in worst.select("first", "last").iter_rows()]


def _moment(window: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=window * WINDOW_S)


def _joined(times: list[BadTime]) -> list[BadTime]:
    """Times of one server that overlap as one: sessions pile up while nothing is committed."""
    joined = list[BadTime]()
    for one in sorted(times, key=lambda time: (time.db, time.since)):
        last = joined[-1] if joined else None
        if last and last.db == one.db and one.since <= last.until:
            joined[-1] = BadTime(last.db, last.since, max(last.until, one.until))
        else:
            joined.append(one)
    return joined
