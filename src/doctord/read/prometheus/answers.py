"""Answers of Prometheus' HTTP API: series with their values, put into the order of scrapes."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from doctord.read.figures import number
from doctord.read.prometheus.names import CLOCK, HOST_NAME, UP
from doctord.read.prometheus.samples import TARGET, Sample, Series, host_in, target_of
from doctord.read.source import SourceFile

BARE: Final = frozenset({CLOCK, *UP})  # metrics without labels
OWN: Final = ("server", "database")  # but for these, in some versions
UNNAMED: Final = "expression"
NATIVE: Final = "native histograms are left out: {} metrics, such as {}"


def scrapes_in(
    result: Iterable[Mapping[str, Any]], source: SourceFile, added: Collection[str] = ()
) -> Iterator[tuple[datetime, str, list[Sample]]]:
    """When, of which target, and what: all that was sampled at one moment, in order of time.

    NaN and Inf are no figures, and are left out, as are native histograms.

    Args:
        result: The series of an answer.
        source: Is told what could not be used.
        added: The labels that Prometheus added to all series (`added_labels`), which tell nothing of a figure.

    Raises:
        KeyError, TypeError, ValueError: it is not of that form.
    """
    held, native = dict[tuple[int, str], list[Sample]](), dict[str, None]()
    for one in result:
        labels = {name: value for name, value in one["metric"].items() if name not in added}
        series, target = Series(labels.pop("__name__", UNNAMED), labels), target_of(labels)
        if "histograms" in one or "histogram" in one:
            native[series.name] = None
        for moment_us, value in _values(one, source):
            held.setdefault((moment_us, target), []).append(Sample(series, value))
    if native:
        source.note(NATIVE.format(len(native), next(iter(native))))
    for moment_us, target in sorted(held):
        yield datetime.fromtimestamp(moment_us / 1e6, UTC), target, held[moment_us, target]


def added_labels(series: Iterable[Mapping[str, str]]) -> set[str]:
    """The labels that come from Prometheus' configuration (`cluster`, `pod`, `replica`), of the labels of series.

    They are those of metrics that have none of their own: whether a target is up, and its clock.
    """
    bare = (labels for labels in series if labels.get("__name__") in BARE)
    return {label for labels in bare for label in labels} - {"__name__", *TARGET, *OWN}


def hosts_in(series: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The names of hosts by how they are addressed, of the labels of series: what node_exporter tells of its own."""
    metric, label = HOST_NAME
    named = ((host_in(target_of(labels)), labels.get(label)) for labels in series if labels.get("__name__") == metric)
    return {address: name for address, name in named if address and name}


def _values(one: Mapping[str, Any], source: SourceFile) -> Iterator[tuple[int, float]]:
    """Moments (microseconds) and values of one series."""
    pairs = one.get("values") or ([one["value"]] if "value" in one else [])
    if "values" not in one and not pairs and "histograms" not in one and "histogram" not in one:
        raise KeyError("values")
    for pair in pairs:
        try:
            moment_us, value = round(float(pair[0]) * 1e6), number(str(pair[1]))
            datetime.fromtimestamp(moment_us / 1e6, UTC)
        except (TypeError, ValueError, IndexError, OverflowError, OSError):
            source.skip(0, "a value without its time")
            continue
        if value is not None:
            yield moment_us, value
