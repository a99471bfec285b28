"""Options and arguments that several commands share: one word for one thing.

A dataclass here is a group of options that go together; `_command.py` makes options of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import available_timezones

import typer

from doctord.errors import UserError
from doctord.moments import asked_moment, parse_moment
from doctord.units import parse_duration

if TYPE_CHECKING:
    from doctord.analyse.capacity.whatif import Change
    from doctord.app.asked import Interval
    from doctord.app.source import Files, Recorded
    from doctord.read.source import ReadOptions

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV with a header.")]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report as well.")]
Lake = Annotated[Path | None, typer.Option(metavar="LAKE", help="The lake (default: the usual place).")]
LakeNamed = Annotated[Path | None, typer.Argument(metavar="LAKE", help="The lake (default: the usual place).")]
HostNamed = Annotated[str | None, typer.Option("--host", metavar="NAME", help="The host, where there are several.")]
Db = Annotated[str | None, typer.Option(metavar="NAME", help="The server, where there are several: postgresql:5432.")]
Dsns = Annotated[
    list[str] | None,
    typer.Option(metavar="DSN", help="Look at this server (libpq connection string), not at those found here."),
]
Databases = Annotated[bool, typer.Option(help="Look at databases too, or at the host alone.")]
Past = Annotated[str, typer.Option(metavar="LENGTH", help="How far back to look for what is usual.")]
Horizon = Annotated[str, typer.Option(metavar="LENGTH", help="How far to look ahead.")]
Figures = Annotated[Path | None, typer.Option(metavar="FILE", help="More figures, in TOML.")]
Thresholds = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Thresholds and service levels, in TOML (default: Doctor D's own).")
]


class AlertForm(StrEnum):
    """Forms of alerts."""

    PROMETHEUS = "prometheus"
    ALERTMANAGER = "alertmanager"


Alert = Annotated[AlertForm | None, typer.Option(help="Print alerts in this form instead.")]


Until = Annotated[
    str | None, typer.Option("--to", metavar="MOMENT", help="End, likewise; else now, or the last row of files.")
]


@dataclass(frozen=True, slots=True)
class When:
    """The time that counts."""

    since: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="MOMENT", help="Start: 2026-11-20T10:00Z, 02:19, -2h; of a lake -1h if not said."
        ),
    ] = None
    until: Until = None

    def interval(self, past: str = "0s") -> "Interval":
        """See `interval`."""
        return interval(self.since, self.until, past)


def zones_like(incomplete: str) -> list[str]:
    """The time zones whose names begin so, for a shell to complete."""
    return sorted(name for name in available_timezones() if name.startswith(incomplete))


@dataclass(frozen=True, slots=True)
class OfFiles:
    """What the user says of files that do not say it themselves."""

    zone: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Time zone of files that do not say theirs: Europe/Paris, +02:00.",
            autocompletion=zones_like,
        ),
    ] = None
    day: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Date of the first time of day in files without one: 2026-11-20."),
    ] = None
    every: Annotated[
        str | None, typer.Option(metavar="LENGTH", help="Time between two reports in files that tell no times: 5s.")
    ] = None
    unit: Annotated[
        str | None, typer.Option(metavar="LENGTH", help="What 1 stands for in latencies without a unit: 1us, 10ms.")
    ] = None
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Name each file that cannot be used.")] = False

    def options(self) -> "ReadOptions":
        """The same, read.

        Raises:
            UserError: one of them is not of its form.
        """
        from doctord.read.formats import zone_named
        from doctord.read.source import ReadOptions

        try:
            day = day_named(self.day) if self.day else None
        except ValueError as error:
            raise UserError(f"{self.day!r} is no date", "write it as 2026-11-20, today or yesterday") from error
        return ReadOptions(zone_named(self.zone), length_us(self.unit), day, length_s(self.every), self.verbose)


@dataclass(frozen=True, slots=True)
class Measured:
    """Files, or a lake."""

    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files, folders, archives; none: a lake.")
    ] = None
    lake: Lake = None
    host: HostNamed = None

    def source(self, files: OfFiles | None = None) -> "Files | Recorded":
        """Where the measurements come from.

        Raises:
            UserError: files and a lake are named, or what is said of the files is not of its form.
        """
        from doctord.app.source import source_of

        return source_of(self.paths or [], self.lake, (files or OfFiles()).options(), self.host)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Growth, steps and additions that the history cannot know of."""

    growth: Annotated[
        str | None, typer.Option(metavar="PERCENT", help="What if there were so much more from now on: 20%.")
    ] = None
    step: Annotated[
        list[str] | None,
        typer.Option("--step", metavar="'DATE PERCENT'", help="What if, from then on: '2027-01-01 +30%'."),
    ] = None
    add: Annotated[
        list[str] | None, typer.Option(metavar="'SIZE to NAME'", help="What if space is taken: '40GiB to users'.")
    ] = None

    def changes(self) -> "Sequence[Change]":
        """The same, read.

        Raises:
            UserError: one of them is not of its form.
        """
        from doctord.app.what_if import changes

        return changes(self.growth, self.step or (), self.add or ())


def interval(since: str | None, until: str | None, past: str = "0s") -> "Interval":
    """The interval between two moments, null where they are not said, and so much of the time before it.

    Raises:
        UserError: a moment is none, or the first is not before the second.
    """
    from doctord.app.asked import Interval

    start, end = (asked_moment(text) if text else None for text in (since, until))
    if isinstance(start, datetime) and isinstance(end, datetime) and start >= end:
        raise UserError(f"{since} is not before {until}", "give --from a moment before --to")
    return Interval(start, end, parse_duration(past))


def day_named(text: str) -> date:
    """A date as it is written, or as people say it; a ValueError where it is none."""
    return parse_moment(text).date() if text in {"today", "yesterday"} else date.fromisoformat(text)


def positive_s(text: str) -> float:
    """Seconds of a length of time in which something is to be seen.

    Raises:
        UserError: it is no length of time, or zero.
    """
    if seconds := parse_duration(text):
        return seconds
    raise UserError(f"{text!r} is no time to wait", "give a duration above zero: 20s")


def length_s(text: str | None) -> float | None:
    """Seconds of a length of time; null where none is said."""
    return parse_duration(text) if text else None


def length_us(text: str | None) -> float | None:
    """Microseconds of a length of time; null where none is said."""
    return parse_duration(text) * 1e6 if text else None
