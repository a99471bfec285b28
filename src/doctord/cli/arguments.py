"""Arguments that several commands share: moments, durations, sizes, and how errors are said."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from doctord.durations import parse_duration
from doctord.errors import Refusal
from doctord.printable import printable

__all__ = [
    "Addition",
    "Day",
    "Every",
    "Growth",
    "LakeDir",
    "Paths",
    "Refusal",
    "Steps",
    "Unit",
    "Zone",
    "fail",
    "note",
    "parse_duration",
    "parse_moment",
    "parse_size",
    "said",
]

Paths = Annotated[list[Path] | None, typer.Argument(metavar="PATH...", help="Files, folders, archives; none: a lake.")]
LakeDir = Annotated[Path | None, typer.Option(metavar="LAKE", help="The lake (default: the usual place).")]
Zone = Annotated[
    str | None, typer.Option(metavar="NAME", help="Time zone of files that do not say theirs: Europe/Paris.")
]
Day = Annotated[
    str | None, typer.Option(metavar="DATE", help="Date of the first time of day in files without one: 2026-11-20.")
]
Every = Annotated[
    str | None, typer.Option(metavar="LENGTH", help="Time between two reports in files that tell no times: 5s.")
]
Unit = Annotated[
    str | None, typer.Option(metavar="LENGTH", help="What 1 stands for in latencies without a unit: 1us, 10ms.")
]
Growth = Annotated[
    str | None, typer.Option(metavar="PERCENT", help="What if there were so much more from now on: 20%.")
]
Steps = Annotated[
    list[str] | None, typer.Option("--step", metavar="'DATE PERCENT'", help="What if, from then on: '2027-01-01 +30%'.")
]
Addition = Annotated[
    list[str] | None, typer.Option(metavar="'SIZE to NAME'", help="What if space is taken: '40GB to users'.")
]


@contextmanager
def said() -> Iterator[None]:
    """Run a command's body; a refusal is printed on standard error with its hint, and ends with status 2."""
    try:
        yield
    except Refusal as refusal:
        fail(str(refusal), refusal.hint)


def fail(message: str, hint: str) -> NoReturn:
    """Say what went wrong and what to do, and end with status 2."""
    note(f"{message}\nhint: {hint}")
    raise typer.Exit(2)


def note(text: str) -> None:
    """Say something beside the result, on standard error, a hint on a line of its own.

    Strangers' words in it, names of files say, are harmless: no line of theirs looks like one of ours.
    """
    typer.echo(re.sub(r"\n(?!hint: )", "\n  ", f"doctord: {printable(text)}"), err=True)


def parse_size(text: str) -> int:
    """Bytes of a size such as `10GB`, `512MiB` or a plain number of bytes; 1 kB is 1000 bytes, 1 KiB 1024.

    >>> parse_size("1.5MiB")
    1572864
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?b?\s*", text.lower())
    if not match:
        raise Refusal(f"{text!r} is no size", "write a number and a unit: 500MB, 10GB, 64GiB")
    base = 1024 if match[3] else 1000
    return round(float(match[1]) * float(base) ** " kmgt".index(match[2] or " "))


def parse_moment(text: str, now: datetime | None = None) -> datetime:
    """A point in time, in UTC: ISO 8601 (UTC unless it names a zone), `now`, or a duration ago such as `-2h`.

    >>> parse_moment("2026-11-20T10:00")
    datetime.datetime(2026, 11, 20, 10, 0, tzinfo=datetime.timezone.utc)
    """
    now = now or datetime.now(UTC)
    if text == "now":
        return now
    if text.startswith("-"):
        return now - timedelta(seconds=parse_duration(text[1:]))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refusal(
            f"{text!r} is no point in time", "write 2026-11-20T10:00Z, -2h for two hours ago, or now"
        ) from error
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
