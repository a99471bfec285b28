"""Samples of Prometheus: the value of one series at one moment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from doctord.read.prometheus.databases import named
from doctord.read.prometheus.names import Place, place_of

RISING_ENDS: Final = ("_total", "_count", "_sum", "_bucket")
RISING_BEGINS: Final = ("node_vmstat_", "node_netstat_")  # which node_exporter tells no type of
TARGET: Final = ("instance", "job")  # labels that Prometheus adds


@dataclass(frozen=True)
class Series:
    """The name of a metric and all its labels."""

    name: str
    labels: Mapping[str, str]

    @cached_property
    def about(self) -> tuple[tuple[str, str], ...]:
        """The labels that the target itself gave it."""
        return tuple(sorted((name, value) for name, value in self.labels.items() if name not in TARGET))

    @cached_property
    def place(self) -> Place | None:
        """Where it belongs; null where no table of names has it."""
        return place_of(self.name, self.labels)


class Sample(NamedTuple):
    """The value of a series."""

    series: Series
    value: float

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.series.name

    @property
    def labels(self) -> Mapping[str, str]:
        """All its labels."""
        return self.series.labels

    @property
    def about(self) -> tuple[tuple[str, str], ...]:
        """The labels that the target itself gave it."""
        return self.series.about


def is_counter(sample: Sample, types: Mapping[str, str]) -> bool:
    """Whether a metric rises: it is known, or its target says so, or its name ends as a counter's."""
    name = sample.name
    if place := sample.series.place:
        return place.counter
    if (told := types.get(name)) in {"counter", "gauge"}:
        return told == "counter"
    database = named(name)
    return database.counter if database else name.endswith(RISING_ENDS) or name.startswith(RISING_BEGINS)


def target_of(labels: Mapping[str, str]) -> str:
    """Which target a series is of: its address and its job, as Prometheus labels them; empty where it does not."""
    return " ".join(labels[label] for label in TARGET if labels.get(label))


def host_in(target: str) -> str | None:
    """The host in a target's address; null where there is none.

    >>> host_in("db1:9100 node"), host_in("db1"), host_in("[::1]:9100"), host_in("")
    ('db1', 'db1', '[::1]', None)
    """
    address = target.partition(" ")[0]
    host, _, port = address.rpartition(":")
    return (host if host and port.isdecimal() else address) or None


def labels_as_text(about: Iterable[tuple[str, str]], without: str = "") -> str | None:
    """Labels as the entity of a figure."""
    return ",".join(f"{name}={value}" for name, value in about if name != without) or None
