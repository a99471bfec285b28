"""Options and arguments that several commands share: one word for one thing, one metavar for one kind of thing.

A kind is called with the help, and with the option's words where these are not the parameter's name:
`Annotated[str | None, moment("Up to this moment.", "--to")]`. A dataclass here is a group of options that go together;
`_command.py` makes options of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from doctord.errors import UserError

if TYPE_CHECKING:
    from doctord.analyse.capacity.whatif import Change
    from doctord.app.asked import Interval
    from doctord.app.source import Files, Prometheus, Recorded
    from doctord.read.source import ReadOptions


def takes(metavar: str | None) -> Callable[..., Any]:
    """The kind of options that take what the metavar says."""

    def kind(text: str, *words: str, **more: Any) -> Any:  # noqa: ANN401 - what typer takes, and gives
        return typer.Option(*words, metavar=metavar, help=text, **more)

    return kind


def argument(text: str, metavar: str = "PATH", **more: Any) -> Any:  # noqa: ANN401 - what typer takes, and gives
    """The arguments of a command: most name files, folders or lakes."""
    return typer.Argument(metavar=metavar, help=text, **more)


flag: Final = takes(None)  # nothing, or one of the choices that its type names
amount: Final = takes("SIZE")
file: Final = takes("FILE")
folder: Final = takes("DIR")
in_lake: Final = takes("LAKE")
address: Final = takes("URL")
length: Final = takes("LENGTH")
moment: Final = takes("MOMENT")
name: Final = takes("NAME")
number: Final = takes("N")
process: Final = takes("PID")
server: Final = takes("DSN")

Json = Annotated[bool, flag("Print one JSON document.", "--json")]
Html = Annotated[Path | None, file("Write an HTML report as well.")]
Lake = Annotated[Path | None, in_lake("The lake (default: the usual place).")]
LakeNamed = Annotated[Path | None, argument("The lake (default: the usual place).", "LAKE")]
Library = Annotated[Path | None, folder("The library of incidents (default: in the lake).")]
HostNamed = Annotated[str | None, name("The host, where there are several.", "--host")]
Db = Annotated[str | None, name("The server, where there are several: postgresql:5432.")]
PrometheusNamed = Annotated[
    str | None, address("Ask this Prometheus what exporters told it: https://host:9090.", "--prometheus")
]
Dsns = Annotated[list[str] | None, server("Look at this server (libpq connection string), not at those found here.")]
Databases = Annotated[bool, flag("Look at databases too, or at the host alone.")]
Probe = Annotated[bool, flag("Time logins: connect as a client does, once in 10 s.")]
Past = Annotated[str, length("How far back to look for what is usual.")]
Horizon = Annotated[str, length("How far to look ahead.")]
Figures = Annotated[Path | None, file("More figures, in TOML.")]
Thresholds = Annotated[Path | None, file("Thresholds and service levels, in TOML (default: Doctor D's own).")]
Until = Annotated[str | None, moment("End, likewise; else now, or the last row of files.", "--to")]
Alert = Annotated[Literal["prometheus", "alertmanager"] | None, flag("Print alerts in this form instead.")]


@dataclass(frozen=True, slots=True)
class When:
    """The time that counts."""

    since: Annotated[
        str | None, moment("Start: 2026-11-20T10:00Z, 02:19, -2h; of a lake -1h if not said.", "--from")
    ] = None
    until: Until = None

    def interval(self, past: str = "0s") -> "Interval":
        """That time, and so much of the time before it; see `app.asked`."""
        from doctord.app.asked import Interval

        return Interval.asked(self.since, self.until, past)


def zones_like(incomplete: str) -> list[str]:
    """The time zones whose names begin so, for a shell to complete."""
    from zoneinfo import available_timezones

    return sorted(name for name in available_timezones() if name.startswith(incomplete))


@dataclass(frozen=True, slots=True)
class OfFiles:
    """What the user says of files that do not say it themselves."""

    zone: Annotated[
        str | None,
        name("Time zone of files that do not say theirs: Europe/Paris, +02:00.", autocompletion=zones_like),
    ] = None
    day: Annotated[str | None, takes("DATE")("Date of the first time of day in files without one: 2026-11-20.")] = None
    every: Annotated[str | None, length("Time between two reports in files that tell no times: 5s.")] = None
    unit: Annotated[str | None, length("What 1 stands for in latencies without a unit: 1us, 10ms.")] = None
    verbose: Annotated[bool, flag("Name each file that cannot be used.", "-v", "--verbose")] = False

    def options(self) -> "ReadOptions":
        """The same, read; see `app.asked`."""
        from doctord.app.asked import read_options

        return read_options(self.zone, self.day, self.every, self.unit, is_verbose=self.verbose)


@dataclass(frozen=True, slots=True)
class Measured:
    """Files, or a lake."""

    paths: Annotated[list[Path] | None, argument("Files, folders, archives; none: a lake.")] = None
    lake: Lake = None
    host: HostNamed = None

    def source(self, files: OfFiles) -> "Files | Recorded":
        """Where the measurements come from.

        Raises:
            UserError: files and a lake are named, or what is said of the files is not of its form.
        """
        from doctord.app.source import source_of

        return source_of(self.paths or [], self.lake, files.options(), self.host)

    def asked_of(self, prometheus: str) -> "Prometheus":
        """The same of a Prometheus server.

        Raises:
            UserError: files or a lake are named too.
        """
        from doctord.app.source import Prometheus

        if self.paths or self.lake:
            raise UserError("either files, or a lake, or a Prometheus", "doctord diagnose --prometheus URL")
        return Prometheus(prometheus, self.host)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Growth, steps and additions that the history cannot know of."""

    growth: Annotated[str | None, takes("PERCENT")("What if there were so much more from now on: 20%.")] = None
    step: Annotated[list[str] | None, takes("'DATE PERCENT'")("What if, from then on: '2027-01-01 +30%'.")] = None
    add: Annotated[list[str] | None, takes("'SIZE to NAME'")("What if space is taken: '40GiB to users'.")] = None

    def changes(self) -> "Sequence[Change]":
        """The same, read.

        Raises:
            UserError: one of them is not of its form.
        """
        from doctord.app.capacity.what_if import changes

        return changes(self.growth, self.step or (), self.add or ())
