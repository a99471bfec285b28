"""A target of Prometheus: what is remembered of it from scrape to scrape."""

from dataclasses import dataclass, field
from datetime import datetime

from doctord.read.counters import Counters
from doctord.read.prometheus.databases import servers_of
from doctord.read.prometheus.names import HOST_NAME
from doctord.read.prometheus.samples import Sample
from doctord.read.prometheus.sessions import counts_itself
from doctord.read.prometheus.starts import Starts


@dataclass
class Target:
    """What is remembered of one target from scrape to scrape.

    Attributes:
        counters: Their last readings.
        last: When it was scraped last.
        first: What its first scrape told, until there is a second.
        host: The host that it told.
        dbs: What the dataset calls its servers, by component, where it has one of a kind.
        counts_itself: Whether the exporter counts its own session among those of the server.
        starts: What tells that one of its servers started anew.
        settings: Those that were told, which are told again when they change.
        tells_waits: Whether it told what sessions wait for; null: there was no session yet.
        at_work: How many sessions were at work, of each scrape.
    """

    counters: Counters = field(default_factory=Counters)
    last: datetime | None = None
    first: list[Sample] | None = None
    host: str | None = None
    dbs: dict[str, str] = field(default_factory=dict)
    counts_itself: bool = True
    starts: Starts = field(default_factory=Starts)
    settings: dict[tuple[str, str], str] = field(default_factory=dict)
    tells_waits: bool | None = None
    at_work: list[int] = field(default_factory=list)

    def expect(self, samples: list[Sample]) -> None:
        """Remember which servers a scrape to come names, where none before does."""
        self.dbs = servers_of(samples) | self.dbs

    def learn(self, samples: list[Sample]) -> None:
        """Remember what a scrape tells of the target itself."""
        told = (sample.labels[HOST_NAME[1]] for sample in samples if sample.name == HOST_NAME[0])
        self.host = next(told, self.host)
        self.dbs |= servers_of(samples)
        itself = counts_itself(samples)
        self.counts_itself = self.counts_itself if itself is None else itself
