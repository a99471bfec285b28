"""Moments as people write them: `2026-11-20T10:00`, `-2h` for two hours ago, `now`."""

from datetime import UTC, datetime, timedelta

from doctord.errors import UserError
from doctord.units import parse_duration


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
        raise UserError(
            f"{text!r} is no point in time", "write 2026-11-20T10:00Z, -2h for two hours ago, or now"
        ) from error
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
