"""The time that is asked for: moments, and times of day whose day is told by when something was measured."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError
from doctord.lake.query import Lake
from doctord.moments import Moment, TimeOfDay

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

    @property
    def is_all(self) -> bool:
        """Whether no moment is asked for."""
        return self.since is None and self.until is None

    def placed(self, end: End, watcher: Watcher = SILENT) -> tuple[datetime | None, datetime | None]:
        """Its beginning and its end (see `placed`); a time of day that would end it before it begins is a later one.

        Raises:
            UserError: it ends before it begins.
        """
        is_open = isinstance(self.since, TimeOfDay) or isinstance(self.until, TimeOfDay)
        last = end() if is_open else None
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
