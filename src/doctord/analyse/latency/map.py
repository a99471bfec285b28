"""A latency map: the histograms of one subject over time, from the rows of a dataset.

A column is one interval. It holds a histogram where the source gives one, a mean alone where the source knows no more,
and neither where nothing was measured: that is a gap, and differs from an interval without any wait.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from itertools import groupby
from math import inf
from typing import Any, Literal

import polars as pl

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.sampled import sampled_waits
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError

# An interval that begins this share of itself after the last one ended leaves a gap between them.
GAP_SHARE = 0.5
# Gaps are drawn no wider than this many columns: a night without measurements must not push the days out of sight.
MOST_GAP_COLUMNS = 10

# Time in sum: unknown as soon as a part of it is.
KNOWN_TIME = pl.when(pl.col("waited_us").is_null().any()).then(None).otherwise(pl.col("waited_us").sum())

# What is known of the waits: all of them, those that samples met, or their mean.
Kind = Literal["histogram", "sampled", "mean"]


@dataclass(frozen=True, slots=True)
class Subject:
    """Something whose latency a dataset holds: its name, the server (null: the host), what is known, and how often."""

    name: str
    db: str | None
    kind: Kind
    columns: int
    count: float


@dataclass(frozen=True, slots=True)
class Mean:
    """Waits of an interval whose distribution is not known, and their mean, microseconds; null when not measured."""

    count: float
    us: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One interval, by its end. A gap has neither histogram nor mean. Two columns are equal when they are the same."""

    end: datetime
    interval_s: float
    histogram: Histogram | None = None
    mean: Mean | None = None

    @property
    def is_gap(self) -> bool:
        """Whether nothing was measured in the interval, which is not the same as no wait."""
        return self.histogram is None and self.mean is None

    @property
    def count(self) -> float | None:
        """Waits in the interval; null in a gap."""
        if self.histogram is not None:
            return self.histogram.total
        return self.mean.count if self.mean else None

    @property
    def waited_us(self) -> float | None:
        """Time waited in the interval; null in a gap, and where it was not measured."""
        if self.histogram is not None:
            return self.histogram.time.us
        if self.mean is None or (self.mean.us is None and self.mean.count):
            return None
        return self.mean.count * (self.mean.us or 0.0)

    @property
    def mean_us(self) -> float | None:
        """Mean latency; null without waits."""
        return self.waited_us / self.count if self.waited_us is not None and self.count else None


@dataclass(frozen=True, slots=True)
class Marker:
    """An event beside the map: a restart, a gap with its reason, a change of settings."""

    at: datetime
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class LatencyMap:
    """Columns of one subject in time order, without overlap, gaps among them."""

    subject: str
    db: str | None
    host: str | None
    kind: Kind
    columns: tuple[Column, ...]
    markers: tuple[Marker, ...] = ()

    @property
    def whole(self) -> Histogram:
        """All columns' waits together; empty for a map of means."""
        return Histogram.of(
            bucket for column in self.columns if column.histogram for bucket in column.histogram.buckets
        )

    def between(self, since: datetime | None, until: datetime | None) -> "LatencyMap":
        """The columns that end after `since` and no later than `until`."""
        inside = (
            column
            for column in self.columns
            if (since is None or column.end > since) and (until is None or column.end <= until)
        )
        return replace(self, columns=tuple(inside))


def subjects(dataset: Dataset, kind: Kind | None = None) -> list[Subject]:
    """All that the dataset knows latencies of, by name; of two kinds under one name only the histogram is given.

    Of a `kind` alone, those of which that is known: who wants histograms need not wait for all samples to be looked at.
    """
    keys = ["name", "db"]
    parts = [
        frame.select(*keys, "ts", pl.col("count").cast(float), kind=pl.lit(of)) for of, frame in _known(dataset, kind)
    ]
    if not parts:
        return []
    found = (
        pl.concat(parts)
        .group_by([*keys, "kind"], maintain_order=True)
        .agg(columns=pl.col("ts").n_unique(), count=pl.col("count").sum())
        .sort(
            [*keys, pl.col("kind").replace_strict({kind: rank for rank, kind in enumerate(SOURCES)})],
            maintain_order=True,
        )
        .unique(keys, keep="first", maintain_order=True)
    )
    return [Subject(**row) for row in found.iter_rows(named=True)]


def latency_map(
    dataset: Dataset,
    subject: str,
    *,
    db: str | None = None,
    instance: str | None = None,
    host: str | None = None,
    column_s: float | None = None,
) -> LatencyMap:
    """The map of one subject.

    Args:
        dataset: Rows of `latency`; of `wait` and `disk` for what has means only; of `event` for the markers.
        subject: A name that `subjects` gives.
        db: The server; null takes the one there is.
        instance: An instance of a clustered server; null takes all of them together.
        host: The host; null takes the one there is.
        column_s: Seconds a column is to cover; null leaves the source's own intervals.

    Raises:
        UserError: there is no such subject, or it is not clear of which server or host.
    """
    kind, rows = _best(dataset, subject)
    rows, db = _only(rows, "db", db, subject)
    rows, host = _only(rows, "host", host, subject)
    if instance is not None:
        rows, _ = _only(rows, "instance", instance, subject)
    if column_s:
        rows = _wider(rows, column_s)
    columns = _mean_columns(rows) if kind == "mean" else _histogram_columns(rows)
    return LatencyMap(
        subject,
        db,
        host,
        kind,
        tuple(_with_gaps(columns, column_s)),
        markers(dataset, db),
    )


def histograms_of(dataset: Dataset, subject: Subject) -> list[LatencyMap]:
    """The histograms of a subject, a map for each host: the nodes of a cluster have one each.

    Of histograms with other edges, which two tools have made of the same waits, those with most waits are taken. Rows
    without a host are of the one that others name.
    """
    rows = _histograms(dataset).filter((pl.col("name") == subject.name) & pl.col("db").eq_missing(subject.db))
    named = rows["host"].drop_nulls().unique(maintain_order=True)
    rows = rows.with_columns(pl.col("host").fill_null(named[0])) if named.len() == 1 else rows
    maps = list[LatencyMap]()
    for (host,), of_host in rows.partition_by("host", as_dict=True, maintain_order=True).items():
        columns = tuple(_with_gaps(_histogram_columns(_of_like_edges(of_host))))
        name = None if host is None else str(host)
        maps.append(LatencyMap(subject.name, subject.db, name, "histogram", columns, markers(dataset, subject.db)))
    return maps


def _of_like_edges(rows: pl.DataFrame) -> pl.DataFrame:
    """Of rows whose buckets overlap those with most waits: buckets are dealt out into rows of which none overlaps."""
    ordered = rows.with_columns(pl.col("le_us").fill_null(inf).alias("#le"))
    edges = ordered.select("gt_us", "#le").unique(maintain_order=True).sort("gt_us", "#le", maintain_order=True)
    ends, families = list[float](), list[int]()
    for low, high in edges.iter_rows():
        family = next((number for number, end in enumerate(ends) if end <= low), len(ends))
        ends[family:] = [high, *ends[family + 1 :]]
        families.append(family)
    if len(ends) < 2:
        return rows
    dealt = ordered.join(edges.with_columns(pl.Series("#family", families)), on=["gt_us", "#le"], maintain_order="left")
    most = dealt.group_by("#family", maintain_order=True).agg(pl.col("count").sum()).sort(
        "count", "#family", descending=[True, False], maintain_order=True
    )["#family"][0]  # fmt: skip
    return dealt.filter(pl.col("#family") == most).select(rows.columns)


def maps_of_rows(rows: Iterable[Mapping[str, Any]]) -> list[LatencyMap]:
    """Maps of rows of `latency` as they come live, some hundred a second: without the frames that many are worth."""
    buckets: dict[tuple[str, str | None, str | None], dict[datetime, list[Bucket]]] = {}
    intervals: dict[datetime, float] = {}
    for row in rows:
        high_us = inf if row["le_us"] is None else row["le_us"]
        moments = buckets.setdefault((row["subject"], row["db"], row["host"]), {})
        moments.setdefault(row["ts"], []).append(Bucket(row["gt_us"], high_us, row["count"], row["waited_us"]))
        intervals[row["ts"]] = max(row["interval_s"] or 0.0, intervals.get(row["ts"], 0.0))
    return [
        LatencyMap(
            subject, db, host, "histogram", tuple(_column(end, intervals[end], moments[end]) for end in sorted(moments))
        )
        for (subject, db, host), moments in buckets.items()
    ]


def _column(end: datetime, interval_s: float, buckets: Iterable[Bucket]) -> Column:
    return Column(end, interval_s, Histogram.of(bucket for bucket in buckets if bucket.count))


def joined(earlier: LatencyMap, later: LatencyMap, most: int) -> LatencyMap:
    """A map and what came after it, with the gap between them; no more than the newest columns."""
    columns = (*earlier.columns[:-1], *_with_gaps(iter((*earlier.columns[-1:], *later.columns))))
    return replace(earlier, columns=columns[-most:], markers=(*earlier.markers, *later.markers)[-most:])


def _histograms(dataset: Dataset) -> pl.DataFrame:
    return dataset.frame("latency").rename({"subject": "name"})


def _means(dataset: Dataset) -> pl.DataFrame:
    """Means under the same names: `name`, `db`, `count`, `waited_us` of each interval."""
    seconds = pl.col("interval_s")
    waits = dataset.frame("wait").select(
        "ts",
        "interval_s",
        "host",
        "db",
        "instance",
        name="event",
        count=pl.col("waits_per_s") * seconds,
        waited_us=pl.col("average_active_sessions") * seconds * 1e6,
    )
    disks = [_disk_means(dataset, operation) for operation in ("read", "write")]
    return pl.concat([waits, *disks], how="diagonal").filter(pl.col("count").is_not_null())


def _disk_means(dataset: Dataset, operation: str) -> pl.DataFrame:
    count = pl.col(f"{operation}s_per_s") * pl.col("interval_s")
    return dataset.frame("disk").select(
        "ts",
        "interval_s",
        "host",
        name=pl.col("device") + f" {operation}",
        count=count,
        waited_us=pl.when(count == 0).then(0.0).otherwise(count * pl.col(f"{operation}_ms") * 1e3),
    )


# Where latencies come from, that which knows most first: the tables that must have rows, and what is made of them.
SOURCES: Mapping[Kind, tuple[Sequence[str], Callable[[Dataset], pl.DataFrame]]] = {
    "histogram": (["latency"], _histograms),
    "sampled": (["session"], sampled_waits),
    "mean": (["wait", "disk"], _means),
}


def _known(dataset: Dataset, only: Kind | None = None) -> Iterator[tuple[Kind, pl.DataFrame]]:
    """The rows of each kind that the dataset can have; a live map asks each second, and most tables are not there."""
    for kind, (tables, rows_of) in SOURCES.items():
        if only in (None, kind) and any(name in dataset.tables for name in tables):
            yield kind, rows_of(dataset)


def _best(dataset: Dataset, subject: str) -> tuple[Kind, pl.DataFrame]:
    """The rows of a subject from the source that knows most of it."""
    for kind, known in _known(dataset):
        rows = known.filter(name=subject)
        if not rows.is_empty():
            return kind, rows
    raise _unknown(dataset, subject)


def _unknown(dataset: Dataset, subject: str) -> UserError:
    names = [known.name for known in subjects(dataset)]
    folded = {name.casefold(): name for name in names}
    within = [name for name in names if subject.casefold() in name.casefold()]
    near = within[:3] or [folded[name] for name in get_close_matches(subject.casefold(), folded, 3, 0.5)]
    if not names:
        return UserError(
            "there are no latencies in it", "histograms come from doctord map-live --record, or from files"
        )
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(names[:8])}"
    return UserError(f"no latencies of {subject!r}", hint)


def _only(rows: pl.DataFrame, column: str, wanted: str | None, subject: str) -> tuple[pl.DataFrame, str | None]:
    """The rows of one server or host, and which that is."""
    if wanted is not None:
        rows = rows.filter(pl.col(column) == wanted)
    there = rows[column].unique(maintain_order=True).sort().to_list()
    if not there:
        raise UserError(f"no latencies of {subject!r} on {wanted}", f"leave out --{column} to see where there are")
    if len(there) > 1:
        named = ", ".join(name or "the host itself" for name in there)
        raise UserError(
            f"latencies of {subject!r} come from {len(there)} places: {named}", f"choose one with --{column}"
        )
    return rows, there[0]


def _wider(rows: pl.DataFrame, column_s: float) -> pl.DataFrame:
    """The rows as if intervals had ended at multiples of so many seconds; `interval_s` is what they cover of it."""
    width_us = round(column_s * 1e6)
    end_us = ((pl.col("ts").dt.epoch("us") - 1) // width_us + 1) * width_us
    ends = rows.group_by("ts", maintain_order=True).agg(pl.col("interval_s").max()).with_columns(end=end_us)
    covered = ends.with_columns(pl.col("interval_s").sum().over("end"))
    return (
        rows.drop("interval_s")
        .join(covered, "ts", maintain_order="left")
        .with_columns(ts=pl.from_epoch("end", "us").dt.replace_time_zone("UTC"))
    )


def _histogram_columns(rows: pl.DataFrame) -> Iterator[Column]:
    summed = (
        rows.group_by("ts", "gt_us", "le_us", maintain_order=True)
        .agg(interval_s=pl.col("interval_s").max(), count=pl.col("count").sum(), waited_us=KNOWN_TIME)
        .sort("ts", "gt_us", maintain_order=True)
    )
    columns = ("ts", "interval_s", "gt_us", "le_us", "count", "waited_us")
    for end, group in groupby(summed.select(columns).iter_rows(), key=lambda row: row[0]):
        held = list(group)
        buckets = (
            Bucket(low, inf if high is None else high, count, waited)
            for _, _, low, high, count, waited in held
            if count
        )
        yield Column(end, max(row[1] or 0.0 for row in held), Histogram.of(buckets))


def _mean_columns(rows: pl.DataFrame) -> Iterator[Column]:
    summed = (
        rows.group_by("ts", maintain_order=True)
        .agg(interval_s=pl.col("interval_s").max(), count=pl.col("count").sum(), waited_us=KNOWN_TIME)
        .sort("ts", maintain_order=True)
    )
    for end, interval_s, count, waited_us in summed.iter_rows():
        known = count and waited_us is not None
        yield Column(end, interval_s or 0.0, mean=Mean(count, waited_us / count if known else None))


def _with_gaps(columns: Iterator[Column], column_s: float | None = None) -> Iterator[Column]:
    """The columns, and empty ones for the time between them that nothing covers."""
    last: Column | None = None
    for column in columns:
        width_s = column_s or column.interval_s
        if last and width_s:
            missing_s = (column.end - last.end).total_seconds() - width_s
            if missing_s > GAP_SHARE * width_s:
                yield from _gap(last.end, missing_s, width_s)
        yield column
        last = column


def _gap(since: datetime, missing_s: float, interval_s: float) -> Iterator[Column]:
    number = min(max(round(missing_s / interval_s), 1), MOST_GAP_COLUMNS)
    for nth in range(number):
        yield Column(since + timedelta(seconds=missing_s * (nth + 1) / number), missing_s / number)


def markers(dataset: Dataset, db: str | None) -> tuple[Marker, ...]:
    """The events of a server, or of the host, in time order."""
    events = dataset.frame("event").filter(pl.col("kind") != "not measured").sort("ts", maintain_order=True)
    if "db" in events.columns and db is not None:
        events = events.filter(pl.col("db").is_null() | (pl.col("db") == db))
    return tuple(Marker(row["ts"], row["kind"], row["text"] or "") for row in events.iter_rows(named=True))
