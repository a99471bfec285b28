"""Scrapes of Prometheus' metrics as rows: counters become rates between two scrapes of one target."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.counters import Counters
from doctord.read.figures import MANY_ROWS, Figures
from doctord.read.prometheus.samples import Sample, host_in, is_counter, labels_as_text
from doctord.read.prometheus.scrape import Scrape
from doctord.read.prometheus.target import Target
from doctord.read.source import SourceFile

ONE_SCRAPE: Final = (
    "a single scrape: its counters are totals since they began, kept as readings under their own names; rates need "
    "two, and histograms are of all the time since they began"
)
# Twice the usual time: a scrape failed. Three times it: what was told before stands for none of that time.
GAP: Final = 3.0


class Scrapes:
    """Takes scrapes of targets, each in order of time."""

    def __init__(
        self, source: SourceFile, hosts: Mapping[str, str] | None = None, every_s: Mapping[str, float] | None = None
    ) -> None:
        """Nothing was scraped yet.

        Args:
            source: What is read.
            hosts: Names of hosts by how targets are addressed, where other targets told them.
            every_s: The usual time between two scrapes of each target: far more is a gap; null: not known.
        """
        self._source, self._hosts, self._every_s = source, hosts or {}, every_s or {}
        self._figures = Figures(source)
        self._sessions = list[dict[str, Any]]()
        self.targets: dict[str, Target] = {}

    def take_all(self, scrapes: Iterable[tuple[datetime, str, list[Sample]]]) -> Iterator[Batch]:
        """What targets said, in order of time, each with its moment.

        An exporter that was too slow for all of its metrics may tell a server's port later than its first figures.
        """
        told = [*scrapes]
        for _, target, samples in told:
            self.targets.setdefault(target, Target()).expect(samples)
        for moment, target, samples in told:
            yield from self.take(moment, samples, target)

    def take(
        self, moment: datetime, samples: list[Sample], target: str = "", types: Mapping[str, str] | None = None
    ) -> Iterator[Batch]:
        """What one target said at a moment; `types` are those that it told (`counter`, `gauge`, ...)."""
        known = self.targets.setdefault(target, Target())
        known.learn(samples)
        self._source.host = self.host_of(target) or self._source.host
        length_s = (moment - known.last).total_seconds() if known.last and moment > known.last else None
        usual_s = self._every_s.get(target)
        is_gap = bool(length_s and usual_s and length_s > GAP * usual_s)
        known.first, known.last = (samples if known.last is None else None), moment
        yield from self._figures.at(moment, length_s)
        if is_gap:
            row = self._figures.row("event", kind="gap", subject=f"scrapes of {target}")
            row |= {"text": f"none in {length_s:.0f} s", "hint": "was it, or Prometheus, down? `up` of that time tells"}
            known.counters = Counters()
            yield from self._figures.at(moment, None)
        scrape = Scrape(self._figures, known, micros(moment), types or {})
        for sample in samples:
            scrape.put(sample)
        yield from self._keep(scrape.finish(None if is_gap else length_s), moment, None if is_gap else length_s)
        if known.counters.began_again():
            self._figures.row("event", kind="restart", subject="scraped counters")["text"] = (
                f"of {target or 'the target'}"
            )

    def host_of(self, target: str) -> str | None:
        """The host of a target: as it told it, as others of its address did, else that in its address."""
        address = host_in(target)
        return self.targets[target].host or self._hosts.get(address or "", address)

    def rest(self) -> Iterator[Batch]:
        """All rows that still wait; of targets that were scraped once their counters as they stood."""
        for name, target in self.targets.items():
            if target.first is not None and target.last is not None:
                self._source.note(ONE_SCRAPE)
                self._source.host = self.host_of(name) or self._source.host
                yield from self._figures.at(target.last, None)
                Scrape(self._figures, target, micros(target.last), {}).since_start(target.first)
                for sample in target.first:
                    if is_counter(sample, {}):
                        self._figures.statistic(
                            "prometheus", sample.name, sample.value, "total", entity=labels_as_text(sample.about)
                        )
        yield from self._figures.rest()
        if self._sessions:
            yield rows("session", self._sessions)

    def _keep(self, sessions: list[dict[str, Any]], moment: datetime, length_s: float | None) -> Iterator[Batch]:
        """Sessions, each a row of its own; of a first scrape they stand for no time."""
        if length_s is None:
            return
        common = {"ts": micros(moment), "interval_s": length_s, "host": self._source.host}
        self._sessions += [common | session for session in sessions]
        if len(self._sessions) >= MANY_ROWS:
            yield rows("session", self._sessions)
            self._sessions = []
