"""Times that lack their date, and reports that lack any time: placed by what else is known, and that is said."""

from datetime import UTC, date, datetime, time, timedelta

from doctord.read.source import SourceFile
from doctord.regex import regex

ASSUMED_STEP_S = 1.0
A_MINUTE = timedelta(minutes=1)  # by so much may what was written be later than the file's last change
NAMED_DAY = regex(r"(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")


class Clock:
    """Gives times of day the date that they lack, and goes on to the next day when they begin again."""

    def __init__(self, source: SourceFile, day: date | None = None) -> None:
        """Begin on the day that the file tells, else the user, else the file's name, else its last change."""
        self._source = source
        self._day = day
        self._latest: datetime | None = None

    def at(self, hour: int, minute: int, second: float = 0.0) -> datetime:
        """The moment of this time of day: not before the one last asked for.

        Raises:
            ValueError: it is no time of day.
        """
        time_of_day = timedelta(hours=hour, minutes=minute, seconds=second)
        day = self._day
        if day is None:
            day = (latest_first(self._source) - time_of_day).date()
            note_first_day(self._source, day)
        begun = datetime(day.year, day.month, day.day, hour, minute, tzinfo=self._source.zone or UTC)
        moment = begun + timedelta(seconds=second)
        self._day = day
        if self._latest and moment < self._latest:
            self._day += timedelta(days=1)
            moment += timedelta(days=1)
        self._latest = moment
        return moment

    def on(self, day: date) -> None:
        """Take this date for the times of day that follow; the next one may be earlier than the last."""
        self._day, self._latest = day, None


def untimed(source: SourceFile, count: int) -> list[datetime]:
    """Moments for so many reports that do not say when they were: evenly, the last at the file's last change."""
    end = source.modified or datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=1)
    step_s = source.every_s or ASSUMED_STEP_S
    known = "when the file was last written" if source.modified else "at the end of 1970-01-01"
    apart = "" if source.every_s or count < 2 else f", and {ASSUMED_STEP_S:.0f} s lies between two (--every tells)"
    what = "it does not say when it was: it" if count < 2 else "no times in it: the last report"
    source.place("time", f"{what} is taken to be {known}{apart}")
    return [end - timedelta(seconds=step_s * (count - 1 - number)) for number in range(count)]


def last_written(source: SourceFile) -> datetime:
    """When a file of settings was last written, which is since when it says what it says; 1970 where nobody knows."""
    return source.modified or datetime(1970, 1, 1, tzinfo=UTC)


def latest_first(source: SourceFile) -> datetime:
    """The latest that the first time of day without a date can be, by the source's own clock (no zone is given)."""
    if day := source.day or _named_day(source):
        return datetime.combine(day, time.max)
    if source.modified is None:
        return datetime.combine(date(1970, 1, 1), time.max)
    return source.modified.astimezone(source.zone or UTC).replace(tzinfo=None) + A_MINUTE


def note_first_day(source: SourceFile, day: date) -> None:
    """Say which day was taken for the first, where neither the user nor the file's name told it."""
    if source.day or _named_day(source):
        return
    if source.modified is None:
        source.place("date", "no date beside its times of day: the first day is taken for 1970-01-01 (--day tells)")
    else:
        why = "when it was last written"
        source.place("date", f"no date beside its times of day: {day}, {why}, is taken (--day tells)")


def _named_day(source: SourceFile) -> date | None:
    found = NAMED_DAY.search(source.name.rpartition("/")[2])
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[3]), int(found[4]))
    except ValueError:
        return None
