"""The formats of other tools' files, and which of them a file has: found by its content, never by its name."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from doctord._native import Batch
from doctord.errors import Refusal
from doctord.read.latency import (
    awr,
    awr_miner,
    blktrace,
    bpftrace_json,
    call_sums,
    fio_json,
    fio_log,
    histogram_text,
    oracle_10046,
    pairs_csv,
    pylatencymap,
    wait_trace,
)
from doctord.read.source import Skipped, Source, opened


class Format(Protocol):
    """A module that reads one format."""

    NAME: str

    def sniff(self, head: str) -> bool:
        """Whether a file that begins so has this format."""
        ...

    def read(self, source: Source) -> Iterator[Batch]:
        """The rows of the file; what could not be used is in `source.skipped`."""
        ...


# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (
    pylatencymap,
    oracle_10046,
    awr_miner,
    awr,
    bpftrace_json,
    wait_trace,
    blktrace,
    fio_json,
    fio_log,
    histogram_text,
    call_sums,
    pairs_csv,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a file."""

    format: str
    batches: list[Batch]
    skipped: list[Skipped]


@contextmanager
def being_read(
    path: Path, *, zone: str | None = None, unit_us: float | None = None
) -> Iterator[tuple[str, Iterator[Batch], Source]]:
    """A file of whatever format: the format's name, its rows as they are read, and the source with what was skipped.

    Args:
        path: The file; `-` is standard input, which may still be written to.
        zone: Name of the time zone of moments that do not say theirs (`Europe/Paris`).
        unit_us: Microseconds in the unit of latencies that do not say theirs.

    Raises:
        Refusal: it cannot be read, or no format fits.
    """
    with opened(path, _zone(zone), unit_us) as source:
        found = next((known for known in FORMATS if known.sniff(source.head)), None)
        if found is None:
            names = ", ".join(known.NAME for known in FORMATS)
            raise Refusal(f"{source.name}: no format that Doctor D reads", f"it reads {names}")
        yield found.NAME, found.read(source), source


def read_file(path: Path, *, zone: str | None = None, unit_us: float | None = None) -> Reading:
    """Read a whole file, as `being_read`.

    Raises:
        Refusal: it cannot be read, no format fits, or nothing in it could be used.
    """
    with being_read(path, zone=zone, unit_us=unit_us) as (name, batches, source):
        held = list(batches)
    if not held:
        # What is said of a line explains more than what is said of the whole.
        told = sorted(source.skipped, key=lambda skipped: skipped.line == 0)
        why = f": {told[0]}" if told else ""
        raise Refusal(f"{source.name}: nothing in it can be used{why}", f"it was taken for {name}")
    return Reading(name, held, source.skipped)


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise Refusal(
            f"there is no time zone {name!r}", "name it as the tz database does: Europe/Paris, UTC"
        ) from error
