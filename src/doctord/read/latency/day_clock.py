"""Times of day without a date, as tools print them while they run."""

from datetime import UTC, datetime, timedelta

from doctord.read.source import Source

NO_DATE = "no date beside its times of day: the first day is taken for 1970-01-01"


class DayClock:
    """Gives times of day the date that they lack: the first of all days, the next when the clock began again."""

    def __init__(self, source: Source) -> None:
        """No time was seen yet."""
        self._source = source
        self._latest: datetime | None = None

    def at(self, hour: str, minute: str, second: str) -> datetime:
        """The moment of this time of day, not before the one last asked for."""
        zone = self._source.zone or UTC
        if self._latest is None:
            self._source.skip(0, NO_DATE)
        day = self._latest or datetime(1970, 1, 1, tzinfo=zone)
        moment = day.replace(hour=int(hour), minute=int(minute), second=int(second))
        if self._latest and moment < self._latest:
            moment += timedelta(days=1)
        self._latest = moment
        return moment
