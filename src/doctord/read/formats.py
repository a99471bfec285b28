"""The formats of other tools' files, and which of them a file has: found by its content, never by its name."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.format import Format, formats
from doctord.read.source import ReadOptions, Skipped, SourceFile, opened
from doctord.regex import regex

OFFSET = regex(r"([+-])(0\d|1[0-4]):?([0-5]\d)")  # from UTC


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a file.

    Attributes:
        format: Name of its format.
        batches: Its rows.
        skipped: The lines that could not be used, the first of each reason.
        skipped_lines: How many these are in all.
        notes: What is to be known of the whole file.
    """

    format: str
    batches: list[Batch]
    skipped: list[Skipped] = field(default_factory=list)
    skipped_lines: int = 0
    notes: list[str] = field(default_factory=list)


def format_of(source: SourceFile) -> Format:
    """The format of a source.

    Raises:
        UserError: none fits.
    """
    found = next((known for known in formats() if known.sniff(source.head)), None)
    if found is None:
        raise UserError(
            f"{source.name}: no format that Doctor D reads",
            "what it reads: doctord read --formats, docs/reference/files.md",
        )
    return found


@contextmanager
def being_read(path: Path, options: ReadOptions | None = None) -> Iterator[tuple[str, Iterator[Batch], SourceFile]]:
    """A file of whatever format: the format's name, its rows as they are read, and the source with what was skipped.

    Args:
        path: The file; `-` is standard input, which may still be written to.
        options: What the user says of files that do not say it themselves.

    Raises:
        UserError: it cannot be read, or no format fits.
    """
    with opened(path, options) as source:
        found = format_of(source)
        yield found.NAME, found.read(source), source


def read_source(source: SourceFile) -> Reading:
    """Read the whole of a source.

    Raises:
        UserError: no format fits, or nothing in it could be used.
    """
    found = format_of(source)
    held = [batch for batch in found.read(source) if len(batch)]
    source.sum_up()
    if not held:
        # What is said of a line explains more than what is said of the whole.
        told = [str(skipped) for skipped in source.skipped] or [f"{source.name}: {note}" for note in source.notes]
        why = f": {told[0]}" if told else ""
        raise UserError(f"{source.name}: nothing in it can be used{why}", f"it was taken for {found.NAME}")
    return Reading(found.NAME, held, source.skipped, source.skipped_lines, source.notes)


def read_file(
    path: Path,
    *,
    zone: str | None = None,
    unit_us: float | None = None,
    day: date | None = None,
    every_s: float | None = None,
) -> Reading:
    """Read a whole file; what the arguments say is explained at `ReadOptions`.

    Raises:
        UserError: it cannot be read, no format fits, or nothing in it could be used.
    """
    with opened(path, ReadOptions(zone_named(zone), unit_us, day, every_s)) as source:
        return read_source(source)


def zone_named(name: str | None) -> tzinfo | None:
    """The time zone of this name, or so far from UTC.

    Raises:
        UserError: there is none.

    >>> str(zone_named("Europe/Paris")), str(zone_named("-03:30"))
    ('Europe/Paris', 'UTC-03:30')
    """
    if name and (told := OFFSET.fullmatch(name)):
        apart = timedelta(hours=int(told[2]), minutes=int(told[3]))
        return timezone(apart if told[1] == "+" else -apart)
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UserError(
            f"there is no time zone {name!r}", "name it as the tz database does: Europe/Paris, UTC; or so: +02:00"
        ) from error
