"""The lakes that are served, by name, and which time of which of them a request is about."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Final

from doctord.app.asked import Interval
from doctord.app.over_time.load_history import LoadHistory, history_of
from doctord.app.over_time.newest import Newest
from doctord.app.source import Recorded
from doctord.errors import UserError
from doctord.mcp.place import names
from doctord.report.wording import iso

AN_HOUR: Final = timedelta(hours=1)
# So long after its newest row a lake counts as one that nobody fills any more: "now" is then where it ends.
ABANDONED: Final = timedelta(minutes=5)
SETTLED: Final = timedelta(seconds=30)  # after that nothing comes to a time any more


@dataclass(frozen=True, slots=True)
class Asked:
    """The time of a lake that a request is about, and the host where one is named.

    `is_past`: all of it has been recorded, so that the answer stays the same.
    """

    lake: Path
    host: str | None
    since: datetime
    until: datetime
    is_past: bool

    @property
    def recorded(self) -> Recorded:
        """The lake as use cases take it."""
        return Recorded(self.lake, self.host)

    @property
    def load(self) -> LoadHistory:
        """The lake's load, with what is kept of it in memory."""
        return history_of(self.lake)

    def span(self) -> dict[str, str | None]:
        """The time as documents have it."""
        return {"since": iso(self.since), "until": iso(self.until)}

    def interval(self, past_s: float = 0.0) -> Interval:
        """The time as use cases take it, with so many seconds before it."""
        return Interval(self.since, self.until, past_s)


class Lakes:
    """Lakes by the names that requests call them by."""

    def __init__(self, places: Sequence[Path]) -> None:
        """These lakes; the usual one where none is named."""
        self.places: Mapping[str, Path] = names(places)

    def __reduce__(self) -> tuple[type["Lakes"], tuple[list[Path]]]:
        """Another process looks at them for itself."""
        return Lakes, (list(self.places.values()),)

    @cached_property
    def _newest(self) -> dict[str, Newest]:
        return {name: Newest(place) for name, place in self.places.items()}

    def newest(self, name: str) -> datetime | None:
        """Up to when there is data in the lake of that name; null where it is empty."""
        return self._newest[name].moment()

    def named(self, name: str | None) -> str:
        """The name of the lake that is meant: the only one, where none is named.

        Raises:
            UserError: there is none of that name, or several and none is named.
        """
        if name is None and len(self.places) == 1:
            return next(iter(self.places))
        if name is None or name not in self.places:
            wrong = f"there is no lake {name!r}" if name else "there are several lakes, and none is named"
            raise UserError(wrong, f"lakes: {', '.join(self.places)}")
        return name

    def asked(
        self, name: str | None, host: str | None, since: str | None, until: str | None, every_s: int = 1
    ) -> Asked:
        """The time that is asked for: an hour where its beginning is not said, to the newest data where its end is not.

        Who asks about now within the same `every_s` seconds asks about the same time.

        Raises:
            UserError: a moment is none, the time ends before it begins, or there is no such lake.
        """
        chosen = self.named(name)
        newest = self.newest(chosen)
        start, end = Interval.asked(since, until).placed(lambda: newest)
        now = datetime.fromtimestamp(time.time() // every_s * every_s, UTC)
        end = end or (newest if newest and newest < now - ABANDONED else now)
        start = (start or end - AN_HOUR).replace(microsecond=0)  # -1h is another moment for each who asks
        if start >= end:
            raise UserError(f"{start:%F %T} UTC is not before {end:%F %T}", "give `from` a moment before `to`")
        is_past = newest is not None and (newest < now - ABANDONED or end <= newest - SETTLED)
        return Asked(self.places[chosen], host, start, end, is_past)
