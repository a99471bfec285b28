"""An AWR-miner report as a whole, when its snapshots were, and its rows placed by them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from doctord.read.oracle.ruled_table import Row, figure
from doctord.read.source import SourceFile

Found = tuple[str, dict[str, Any]]  # a table, and what its row holds


@dataclass(frozen=True, slots=True)
class Span:
    """An interval by its end, microseconds since 1970, and its length; null for a point in time."""

    end_us: int
    length_s: float | None

    @property
    def at(self) -> dict[str, Any]:
        """The columns `ts` and `interval_s` of the snapshot's rows."""
        return {"ts": self.end_us, "interval_s": self.length_s}

    def per_s(self, increase: float | None) -> float | None:
        """An increase over the interval as a rate; null where one of the two is not known."""
        return None if increase is None or not self.length_s else increase / self.length_s


class Placed(NamedTuple):
    """A row of a section, its line, and the interval that it is about."""

    number: int
    span: Span
    row: Row

    @property
    def instance(self) -> str | None:
        """Number of the instance; null for all of them."""
        return self.row.get("instance_number") or self.row.get("inst")

    @property
    def snapshot(self) -> str:
        """Number of the snapshot; empty where the section has none."""
        return self.row.get("snap_id") or self.row.get("snap") or ""

    def text(self, column: str) -> str | None:
        """What a column holds; null where it is empty, or missing."""
        return self.row.get(column)

    def figure(self, column: str, factor: float = 1.0) -> float | None:
        """The figure of a column, in another unit; null where there is none."""
        value = figure(self.row.get(column))
        return None if value is None else value * factor

    def statistic(
        self, name: str, value: float | None, unit: str | None, kind: str = "gauge", entity: str | None = None
    ) -> Iterator[Found]:
        """A row of `statistic`; none for what was not measured."""
        if value is not None:
            about = {"component": "oracle", "instance": self.instance, "entity": entity}
            yield "statistic", self.span.at | about | {"name": name, "value": value, "unit": unit, "kind": kind}

    def rate(self, name: str, increase: float | None, unit: str, entity: str | None = None) -> Iterator[Found]:
        """A row of `statistic` for what increased over the interval."""
        return self.statistic(name, self.span.per_s(increase), unit, "rate", entity)


@dataclass
class Report:
    """A report: its database and its snapshots.

    Attributes:
        source: The file.
        about: OS-INFORMATION: values by name.
        block_bytes: Size of a block; null: not told.
        hosts: Host by instance, where the report says which is whose; instance null: of all.
        spans: Interval of each snapshot and instance; instance null: the latest to end of all.
        has_cpu: Whether its metrics tell the CPU time of an instance, as from 3.0 on.
    """

    source: SourceFile
    about: dict[str, str | None]
    block_bytes: float | None = None
    hosts: dict[str | None, str | None] = field(default_factory=dict)
    spans: dict[tuple[str, str | None], Span] = field(default_factory=dict)
    has_cpu: bool = False

    @property
    def db(self) -> str:
        """The database as other tables name it."""
        name = self.about.get("DB_NAME")
        return f"oracle:{name}" if name else "oracle"

    @property
    def whole(self) -> Span | None:
        """From the begin of the first snapshot to the end of the last; null without snapshots."""
        if not self.spans:
            return None
        begin_us = min(span.end_us - (span.length_s or 0) * 1e6 for span in self.spans.values())
        end_us = max(span.end_us for span in self.spans.values())
        return Span(end_us, (end_us - begin_us) / 1e6 or None)

    def host_of(self, instance: str | None) -> str | None:
        """Host of an instance; null where the report does not say it."""
        return self.hosts.get(instance) or self.hosts.get(None)

    def add(self, snapshot: str, instance: str | None, span: Span) -> None:
        """A snapshot of an instance ended."""
        self.spans[snapshot, instance] = span
        latest = self.spans.get((snapshot, None))
        if latest is None or span.end_us >= latest.end_us:
            self.spans[snapshot, None] = span
