"""What is asked for, as people write it: moments and times of day, whose day is told by when something was measured."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError
from doctord.lake.query import Lake
from doctord.moments import Moment, TimeOfDay, asked_moment, parse_day
from doctord.read.formats import zone_named
from doctord.read.source import ReadOptions
from doctord.units import parse_duration

DAY_S = 86400.0
A_DAY = timedelta(seconds=DAY_S)

# When what was measured ends; null where nothing was.
End = Callable[[], datetime | None]


@dataclass(frozen=True, slots=True)
class Interval:
    """The time that is asked for.

    Attributes:
        since: Its beginning; what null means, the source says.
        until: Its end, likewise.
        past_s: How many seconds before it to look at for what is usual.
    """

    since: Moment | None = None
    until: Moment | None = None
    past_s: float = DAY_S

    @classmethod
    def asked(cls, since: str | None, until: str | None, past: str = "0s") -> "Interval":
        """The interval between two moments as somebody wrote them, null where they are not said.

        Args:
            since: Its beginning: `2026-11-20T10:00Z`, `02:19`, `-2h`.
            until: Its end, likewise.
            past: The length of the time before it: `1d`.

        Raises:
            UserError: a moment is none, or the first is not before the second.
        """
        start, end = (asked_moment(text) if text else None for text in (since, until))
        if isinstance(start, datetime) and isinstance(end, datetime) and start >= end:
            raise UserError(f"{since} is not before {until}", "give --from a moment before --to")
        return cls(start, end, parse_duration(past))

    @property
    def is_all(self) -> bool:
        """Whether no moment is asked for."""
        return self.since is None and self.until is None

    @property
    def is_open(self) -> bool:
        """Whether one of its ends is a time of day, whose day is told by what was measured."""
        return isinstance(self.since, TimeOfDay) or isinstance(self.until, TimeOfDay)

    @property
    def moments(self) -> tuple[datetime, datetime]:
        """Its beginning and its end, once both are moments.

        Raises:
            UserError: one of them is open, or a time of day whose day is not known yet.
        """
        if not (isinstance(self.since, datetime) and isinstance(self.until, datetime)):
            raise UserError("a time with two ends is needed", "give both --from and --to")
        return self.since, self.until

    def placed(self, end: End, watcher: Watcher = SILENT) -> tuple[datetime | None, datetime | None]:
        """Its beginning and its end (see `placed`); a time of day that would end it before it begins is a later one.

        Raises:
            UserError: it ends before it begins.
        """
        last = end() if self.is_open else None
        since, until = placed(self.since, last), placed(self.until, last)
        if since and until and since > until and isinstance(self.until, TimeOfDay):
            until += -((until - since) // A_DAY) * A_DAY
        if since and until and since >= until:
            raise UserError(f"{since:%F %T} UTC is not before {until:%F %T}", "give --from a moment before --to")
        for asked, taken in ((self.since, since), (self.until, until)):
            _tell(asked, taken, last, watcher)
        return since, until

    def of_lake(self, lake: Lake, usual: timedelta, watcher: Watcher = SILENT) -> tuple[datetime, datetime]:
        """Its beginning and its end: so long before its end, and now, where they are not said.

        Raises:
            UserError: it ends before it begins.
        """
        since, until = self.placed(lambda: span[1] if (span := lake.span()) else None, watcher)
        end = until or datetime.now(UTC)
        start = since or end - usual
        if start >= end:
            raise UserError(f"{start:%F %T} UTC is not before {end:%F %T}", "give --from a moment before --to")
        return start, end


ALL: Final = Interval()


def read_options(
    zone: str | None, day: str | None, every: str | None, unit: str | None, *, is_verbose: bool = False
) -> ReadOptions:
    """What somebody wrote of files that do not say it themselves; null where nothing is said.

    Args:
        zone: Time zone of times without one: `Europe/Paris`, `+02:00`.
        day: Date of the first time of day without one: `2026-11-20`.
        every: Time between reports that have no times at all: `5s`.
        unit: What 1 stands for in latencies without a unit: `10ms`.
        is_verbose: Whether each file that cannot be used is named.

    Raises:
        UserError: one of them is not of its form.
    """
    return ReadOptions(
        zone_named(zone),
        parse_duration(unit) * 1e6 if unit else None,
        parse_day(day) if day else None,
        parse_duration(every) if every else None,
        is_verbose,
    )


def placed(moment: Moment | None, last: datetime | None, watcher: Watcher = SILENT) -> datetime | None:
    """A moment; a time of day is the last one that was, or of what ends on an earlier day the last before its end.

    Args:
        moment: What is asked for.
        last: When what was measured ends; null: nothing was.
        watcher: Who is told which day is taken, where it is not the last one that was.
    """
    if not isinstance(moment, TimeOfDay):
        return moment
    taken = moment.last(last if last and _is_of_another_day(last) else datetime.now(UTC))
    _tell(moment, taken, last, watcher)
    return taken


def _tell(moment: Moment | None, taken: datetime | None, last: datetime | None, watcher: Watcher) -> None:
    if isinstance(moment, TimeOfDay) and taken and last and _is_of_another_day(last):
        watcher.note(f"{moment.text}: {taken:%F %T} UTC is taken, for what was measured ends {last:%F %T} UTC")


def _is_of_another_day(last: datetime) -> bool:
    return last.date() < datetime.now(UTC).date()
