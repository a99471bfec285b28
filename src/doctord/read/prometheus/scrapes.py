"""Scrapes of Prometheus' metrics as rows: counters become rates between two scrapes of one target."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from math import isfinite
from typing import Final, NamedTuple

from doctord._native import Batch
from doctord.dataset.rows import micros
from doctord.read.counters import Counters
from doctord.read.figures import Figures
from doctord.read.prometheus.databases import entity as entity_of
from doctord.read.prometheus.databases import named, server
from doctord.read.prometheus.names import CPU_MODES, CPU_TIME, ENTITY, HOST_NAME, NODE, SPACE
from doctord.read.source import SourceFile

ONE_SCRAPE: Final = (
    "a single scrape: its counters are totals since they began, kept as readings under their own names; rates need "
    "two, and histograms are of all the time since they began"
)
RISING_ENDS: Final = ("_total", "_count", "_sum", "_bucket")
RISING_BEGINS: Final = ("node_vmstat_", "node_netstat_")  # which node_exporter tells no type of
TARGET: Final = ("instance", "job")  # labels that Prometheus adds


class Sample(NamedTuple):
    """One value of one series: the name of the metric, all its labels, the number."""

    name: str
    labels: Mapping[str, str]
    value: float

    @property
    def about(self) -> tuple[tuple[str, str], ...]:
        """The labels that the target itself gave it."""
        return tuple(sorted((name, value) for name, value in self.labels.items() if name not in TARGET))


@dataclass
class Target:
    """What is remembered of one target from scrape to scrape."""

    counters: Counters = field(default_factory=Counters)
    last: datetime | None = None
    first: list[Sample] | None = None
    host: str | None = None


class Scrapes:
    """Takes scrapes of targets, each in order of time."""

    def __init__(self, source: SourceFile) -> None:
        """Nothing was scraped yet."""
        self._source = source
        self._figures = Figures(source)
        self._targets: dict[str, Target] = {}

    def take(
        self, moment: datetime, samples: list[Sample], target: str = "", types: Mapping[str, str] | None = None
    ) -> Iterator[Batch]:
        """What one target said at a moment; `types` are those that it told (`counter`, `gauge`, ...)."""
        known = self._targets.setdefault(target, Target())
        name = next(
            (s.labels[HOST_NAME[1]] for s in samples if s.name == HOST_NAME[0] and HOST_NAME[1] in s.labels), None
        )
        known.host = name or known.host
        length_s = (moment - known.last).total_seconds() if known.last and moment > known.last else None
        known.first, known.last = (samples if known.last is None else None), moment
        self._source.host = known.host or _host_of(target) or self._source.host
        yield from self._figures.at(moment, length_s)
        scrape = Scrape(self._figures, known, micros(moment), types or {})
        for sample in samples:
            scrape.put(sample)
        scrape.finish(length_s)
        if known.counters.began_again():
            self._figures.row("event", kind="restart", subject="scraped counters")["text"] = (
                f"of {target or 'the target'}"
            )

    def rest(self) -> Iterator[Batch]:
        """All rows that still wait; of targets that were scraped once their counters as they stood."""
        for name, target in self._targets.items():
            if target.first is not None and target.last is not None:
                self._source.note(ONE_SCRAPE)
                self._source.host = target.host or _host_of(name) or self._source.host
                yield from self._figures.at(target.last, None)
                Scrape(self._figures, target, micros(target.last), {}).since_start(target.first)
                for sample in target.first:
                    if is_counter(sample.name, {}):
                        self._figures.statistic(
                            "prometheus", sample.name, sample.value, "total", entity=_entity(sample.about)
                        )
        yield from self._figures.rest()


def is_counter(name: str, types: Mapping[str, str]) -> bool:
    """Whether a metric rises: its target says so, or it is known, or its name ends as a counter's."""
    if place := NODE.get(name):
        return place.counter
    if (told := types.get(name)) in {"counter", "gauge"}:
        return told == "counter"
    database = named(name)
    return database.counter if database else name.endswith(RISING_ENDS) or name.startswith(RISING_BEGINS)


class Scrape:
    """Puts the samples of one scrape where they belong."""

    def __init__(self, figures: Figures, target: Target, at_us: int, types: Mapping[str, str]) -> None:
        """Nothing was put yet."""
        self._figures, self._counters, self._at_us, self._types = figures, target.counters, at_us, types
        self._tables: dict[str, dict[str | None, dict[str, float]]] = {}
        self._buckets: dict[tuple[str, str | None], list[tuple[float, float]]] = {}

    def put(self, sample: Sample) -> None:
        """One sample: a reading as it is, a counter as its rate."""
        value: float | None = sample.value
        counter = is_counter(sample.name, self._types)
        if counter:
            value = self._counters.per_s((sample.name, sample.about), self._at_us, sample.value)
        if value is None:
            return
        if sample.name == CPU_TIME:
            self._add("cpu", sample.labels.get("cpu"), CPU_MODES.get(sample.labels.get("mode", "")), value * 100.0)
        elif place := NODE.get(sample.name):
            self._add(place.table, sample.labels.get(place.label or ""), place.column, value * place.factor)
        elif not self._bucket(sample, value):
            self._name(sample, value, counter=counter)

    def since_start(self, samples: Iterable[Sample]) -> None:
        """The histograms of a single scrape: what was counted since the target began is a distribution in itself."""
        for sample in samples:
            self._bucket(sample, sample.value)
        self.finish(1.0)

    def _bucket(self, sample: Sample, value: float) -> bool:
        """Whether it is a bucket of a histogram of times, which is kept until all are there."""
        edge = sample.labels.get("le")
        if not edge or not sample.name.endswith("_seconds_bucket"):
            return False
        series = (sample.name.removesuffix("_seconds_bucket"), _entity(sample.about, "le"))
        self._buckets.setdefault(series, []).append((float(edge), value))
        return True

    def finish(self, length_s: float | None) -> None:
        """What follows from several samples together, and then all rows."""
        _finish_cpu(self._tables.get("cpu", {}))
        for table, rows in self._tables.items():
            for about, row in rows.items():
                FINISHING.get(table, _as_it_is)(row)
                named_by = ENTITY[table]
                entity = {named_by: int(about) if table == "cpu" and about else about} if named_by else {}
                self._figures.row(table, **entity).update({name: v for name, v in row.items() if name[0] != "_"})
        for (name, about), edges in self._buckets.items():
            if length_s:
                self._histogram(f"{name} {about}" if about else name, sorted(edges), length_s)

    def _add(self, table: str, about: str | None, column: str | None, value: float) -> None:
        if column and (table != "cpu" or about is None or about.isdecimal()):
            row = self._tables.setdefault(table, {}).setdefault(about, {})
            row[column] = row.get(column, 0.0) + value

    def _histogram(self, subject: str, edges: list[tuple[float, float]], length_s: float) -> None:
        """Cumulative rates by upper edge, seconds, as what was counted in each bucket."""
        for (low_s, below), (high_s, up_to) in pairwise([(0.0, 0.0), *edges]):
            row = self._figures.row("latency", subject=subject, gt_us=low_s * 1e6)
            row["count"] = round(max(up_to - below, 0.0) * length_s)
            row["le_us"] = high_s * 1e6 if isfinite(high_s) else None

    def _name(self, sample: Sample, value: float, *, counter: bool) -> None:
        """A figure that has no column; a setting."""
        database, kind = named(sample.name), "rate" if counter else "gauge"
        if sample.name in SPACE and "datname" in sample.labels:
            self._space(*SPACE[sample.name], sample.labels, value)
        elif database is None:
            unit = "per_s" if counter else None
            self._figures.statistic("prometheus", sample.name, value, unit, kind=kind, entity=_entity(sample.about))
        elif database.setting:
            db = server(database.component, sample.labels)
            row = self._figures.row("setting", component=database.component, db=db, name=database.name)
            row |= {"value": f"{value:.15g}", "unit": database.unit}
        else:
            db, about = server(database.component, sample.labels), entity_of(database.component, sample.labels)
            self._figures.statistic(
                database.component, database.name, value, database.unit, kind=kind, entity=about, db=db
            )

    def _space(self, kind: str, column: str, labels: Mapping[str, str], value: float) -> None:
        """A figure of a database or a table."""
        database, parts = labels["datname"], [labels[part] for part in ("schemaname", "relname") if part in labels]
        db, name = server("postgresql", labels), ".".join(parts) or database
        self._figures.row("space", db=db, database=database, kind=kind, name=name)[column] = value


def _finish_cpu(cpus: dict[str | None, dict[str, float]]) -> None:
    """Adds the whole host: the mean of its CPUs."""
    single = [row for cpu, row in cpus.items() if cpu is not None]
    for column in {column for row in single for column in row}:
        cpus.setdefault(None, {})[column] = sum(row.get(column, 0.0) for row in single) / len(single)


def _finish_disk(disk: dict[str, float]) -> None:
    """Milliseconds of I/O per second become those of one request; null without requests."""
    for time, count in (("read_ms", "reads_per_s"), ("write_ms", "writes_per_s")):
        if spent := disk.pop(time, None):
            disk |= {time: spent / disk[count]} if disk.get(count) else {}


def _finish_memory(memory: dict[str, float]) -> None:
    """Shared memory is counted in the cache, and major faults among all faults."""
    for whole, part in (("page_cache_bytes", "shmem_bytes"), ("minor_faults_per_s", "major_faults_per_s")):
        if whole in memory:
            memory[whole] -= memory.get(part, 0.0)


def _finish_filesystem(filesystem: dict[str, float]) -> None:
    """What is not free is used, with what is reserved for root where only what is available is told."""
    free = filesystem.get("_free_bytes", filesystem.get("available_bytes"))
    if "size_bytes" in filesystem and free is not None:
        filesystem["used_bytes"] = filesystem["size_bytes"] - free
    if filesystem.get("_inodes") and "_inodes_free" in filesystem:
        filesystem["inodes_used_pct"] = 100.0 - 100.0 * filesystem["_inodes_free"] / filesystem["_inodes"]


def _as_it_is(_row: dict[str, float]) -> None:
    """Nothing follows."""


FINISHING: Final = {"disk": _finish_disk, "memory": _finish_memory, "filesystem": _finish_filesystem}


def _host_of(target: str) -> str | None:
    """The host in an address."""
    return target.rpartition(":")[0] or target or None


def _entity(about: Iterable[tuple[str, str]], without: str = "") -> str | None:
    return ",".join(f"{name}={value}" for name, value in about if name != without) or None
