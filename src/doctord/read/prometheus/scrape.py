"""One scrape of one target: each sample is put where it belongs."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import isfinite
from typing import Any

from doctord.read.figures import Figures
from doctord.read.prometheus.databases import entity as entity_of
from doctord.read.prometheus.databases import named, server, setting
from doctord.read.prometheus.finishing import finished, whole_host
from doctord.read.prometheus.names import CPU_MODES, SPACE, UP, Place
from doctord.read.prometheus.samples import Sample, is_counter, labels_as_text
from doctord.read.prometheus.sessions import COUNT, LONGEST, Sessions
from doctord.read.prometheus.starts import COMPONENTS
from doctord.read.prometheus.target import Target
from doctord.read.prometheus.threads import THREADS, Threads


class Scrape:
    """Puts the samples of one scrape where they belong."""

    def __init__(self, figures: Figures, target: Target, at_us: int, types: Mapping[str, str]) -> None:
        """Nothing was put yet."""
        self._figures, self._target, self._at_us, self._types = figures, target, at_us, types
        self._tables: dict[str, dict[tuple[tuple[str, Any], ...], dict[str, Any]]] = {}
        self._buckets: dict[tuple[str, str | None], list[tuple[float, float]]] = {}
        self._sessions: dict[str, Sessions] = {}
        self._threads: dict[str, Threads] = {}

    def put(self, sample: Sample) -> None:
        """One sample: a reading as it is, a counter as its rate; NaN and Inf are none."""
        if not isfinite(sample.value):
            return
        if component := UP.get(sample.name):
            self._up(component, sample)
            return
        if component := COMPONENTS.get(sample.name):
            self._target.starts.look(self._server(component, sample.labels), sample)
        value: float | None = sample.value
        counter = is_counter(sample, self._types)
        if counter:
            value = self._target.counters.per_s((sample.name, sample.about), self._at_us, sample.value)
        if value is None:
            return
        if place := sample.series.place:
            self._place(place, sample.labels, value)
        elif not self._bucket(sample, value) and not self._session(sample):
            self._name(sample, value, counter=counter)

    def since_start(self, samples: Iterable[Sample]) -> None:
        """The histograms of a single scrape: what was counted since the target began is a distribution in itself."""
        for sample in samples:
            self._bucket(sample, sample.value)
        self.finish(1.0)

    def finish(self, length_s: float | None) -> list[dict[str, Any]]:
        """What follows from several samples together, and all rows but those of sessions, which it gives."""
        if cpus := self._tables.pop("cpu", None):
            by_number = {dict(about).get("cpu"): row for about, row in cpus.items()}
            whole_host(by_number)
            for cpu, row in by_number.items():
                self._figures.row("cpu", cpu=cpu).update(row)
        for table, held in self._tables.items():
            if table == "wait" and length_s is None:
                continue
            whole = ({**dict(about), **row} for about, row in held.items())
            for entity, row in zip(held, finished(table, whole), strict=True):
                self._figures.row(table, **dict(entity)).update(row)
        for (name, about), edges in self._buckets.items():
            if length_s:
                self._histogram(f"{name} {about}" if about else name, sorted(edges), length_s)
        for db, why in self._target.starts.anew().items():
            self._figures.row("event", kind="restart", db=db, subject=db)["text"] = why
        found = [row for db, sessions in self._sessions.items() for row in self._told(db, sessions, length_s)]
        return found + [row for db, threads in self._threads.items() for row in threads.rows(self._figures, db)]

    def _place(self, place: Place, labels: Mapping[str, str], value: float) -> None:
        """A figure that one of the tables of names has."""
        if place.kind == "since":
            if value <= 0:  # never
                return
            value = self._at_us / 1e6 - value
        value *= place.factor
        db = None if place.component == "kernel" else self._server(place.component, labels)
        if place.table == "statistic":
            self._statistic(place, labels, value, db)
            return
        about: dict[str, Any] = {} if db is None else {"db": db}
        about |= place.about(labels)
        column = place.column
        if place.table == "wait" and not about.get("event"):
            return
        if place.table == "cpu":
            column, number = CPU_MODES.get(labels.get("mode", ""), column), str(about.get("cpu") or "")
            if "mode" in labels and (column == place.column or not number.removeprefix("cpu").isdecimal()):
                return
            about = {"cpu": int(number.removeprefix("cpu"))} if number else {}
        row = self._tables.setdefault(place.table, {}).setdefault(tuple(about.items()), {})
        row[column] = row.get(column, 0.0) + value

    def _statistic(self, place: Place, labels: Mapping[str, str], value: float, db: str | None) -> None:
        kind = "rate" if place.counter and not (place.unit or "").endswith("pct") else "gauge"
        self._figures.statistic(
            place.component, place.name(labels), value, place.unit, kind=kind, entity=place.entity_of(labels), db=db
        )

    def _server(self, component: str, labels: Mapping[str, str]) -> str:
        return server(component, labels, self._target.dbs.get(component))

    def _up(self, component: str, sample: Sample) -> None:
        """Whether the exporter could ask its server at all."""
        if sample.value == 0:
            db = self._server(component, sample.labels)
            text = (
                f"the exporter could not ask it ({sample.name} 0): whether it was refused or waited, it does not tell"
            )
            self._figures.row("event", kind="no answer", db=db, subject=db)["text"] = text

    def _session(self, sample: Sample) -> bool:
        """Whether it is of sessions, which are kept until all are there."""
        if sample.name == THREADS:
            db = self._server("mysql", sample.labels)
            self._threads.setdefault(db, Threads()).put(sample.labels, sample.value)
            return True
        if sample.name not in {COUNT, LONGEST}:
            return False
        db = self._server("postgresql", sample.labels)
        held = self._sessions.setdefault(db, Sessions(counts_itself=self._target.counts_itself))
        held.put(sample.name, sample.labels, sample.value)
        return True

    def _told(self, db: str, sessions: Sessions, length_s: float | None) -> Iterable[dict[str, Any]]:
        if not sessions.were_counted:
            return ()
        sessions.numbers(self._figures, db)
        if sessions.tells_waits is not None:
            self._target.tells_waits = sessions.tells_waits
            self._target.at_work.append(sessions.at_work)
        return sessions.rows(self._figures, db) if length_s is not None else ()

    def _bucket(self, sample: Sample, value: float) -> bool:
        """Whether it is a bucket of a histogram of times, which is kept until all are there."""
        if "le" not in sample.labels or not sample.name.endswith("_seconds_bucket"):
            return False
        try:
            edge = float(sample.labels["le"])
        except ValueError:
            return False
        series = (sample.name.removesuffix("_seconds_bucket"), labels_as_text(sample.about, "le"))
        self._buckets.setdefault(series, []).append((edge, value))
        return True

    def _histogram(self, subject: str, edges: list[tuple[float, float]], length_s: float) -> None:
        """Cumulative rates by upper edge, seconds, as what was counted in each bucket."""
        for (low_s, below), (high_s, up_to) in pairwise([(0.0, 0.0), *edges]):
            row = self._figures.row("latency", subject=subject, gt_us=low_s * 1e6)
            row["count"] = round(max(up_to - below, 0.0) * length_s)
            row["le_us"] = high_s * 1e6 if isfinite(high_s) else None

    def _name(self, sample: Sample, value: float, *, counter: bool) -> None:
        """A figure under the name that its server's own view has; a setting."""
        database, kind = named(sample.name), "rate" if counter else "gauge"
        if database is None:
            unit = "per_s" if counter else None
            about = labels_as_text(sample.about)
            self._figures.statistic("prometheus", sample.name, value, unit, kind=kind, entity=about)
            return
        db = self._server(database.component, sample.labels)
        if database.setting:
            self._setting(database.component, db, *setting(database, value))
            return
        if (place := SPACE.get(sample.name)) and "datname" in sample.labels:
            self._space(*place, sample.labels, db, value)
        about = entity_of(database.component, sample.labels)
        self._figures.statistic(database.component, database.name, value, database.unit, kind=kind, entity=about, db=db)

    def _setting(self, component: str, db: str, name: str, value: str, unit: str | None) -> None:
        """A setting, once and when it changes."""
        told = self._target.settings
        if told.get((db, name)) != value:
            told[db, name] = value
            self._figures.row("setting", component=component, db=db, name=name).update(value=value, unit=unit)

    def _space(self, kind: str, column: str, labels: Mapping[str, str], db: str, value: float) -> None:
        """A figure of a database or a table."""
        database, parts = labels["datname"], [labels[part] for part in ("schemaname", "relname") if part in labels]
        row = self._figures.row("space", db=db, database=database, kind=kind, name=".".join(parts) or database)
        row[column] = value
