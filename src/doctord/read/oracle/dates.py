"""Moments as Oracle's reports print them: `23-Apr-14 18:30:40`, `26-JUL-13 01.00.41 PM`, in whatever language."""

from datetime import UTC, datetime, timedelta

from doctord.dataset.rows import micros
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.regex import regex

MOMENT = r"\d\d?-\w{2,5}\.? ?-\d\d(?:\d\d)?,? +\d\d?[:.]\d\d(?:[:.]\d\d)?(?:[.,]\d+)?(?: ?[AP]M\b)?"
PARTS = regex(r"(\d\d?)-(\w{2,5})\.? ?-(\d{4}|\d\d),? +(\d\d?)[:.](\d\d)(?:[:.](\d\d))?(?:[.,]\d+)?(?: ?([AP]M))?")
WITHIN = regex(MOMENT)
HALF_A_YEAR_US = 184 * 86_400_000_000
DAY_TIME = regex(r"(\d\d?-\w{2,5}\.?) +(\d\d?:\d\d(?::\d\d)?)")
# What the names of months begin with in English, German, French, Italian, Spanish and Portuguese.
MONTHS: tuple[tuple[str, ...], ...] = (
    ("JAN", "GEN", "ENE"),
    ("FEB", "FÉV", "FEV"),
    ("MAR", "MÄR", "MRZ"),
    ("APR", "AVR", "ABR"),
    ("MAY", "MAI", "MAG"),
    ("JUN", "JUIN", "GIU"),
    ("JUL", "JUIL", "LUG"),
    ("AUG", "AOÛ", "AOU", "AGO"),
    ("SEP", "SET"),
    ("OCT", "OKT", "OTT", "OUT"),
    ("NOV",),
    ("DEC", "DEZ", "DÉC", "DIC"),
)


def report_moment(text: str, source: SourceFile) -> datetime | None:
    """The moment that a text begins with; null when it is none. Without `--zone` UTC is taken, which a note says.

    A year of two digits is one from 1970 to 2069.
    """
    found = PARTS.match(text.strip())
    if found is None:
        return None
    day, name, year, hour, minute, second, half = found.groups()
    month = month_named(name)
    full_year = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= 70 else 2000)
    hours = int(hour) % 12 + (12 if half == "PM" else 0) if half else int(hour)
    try:
        midnight = datetime(full_year, month, int(day), tzinfo=source.zone or UTC)
    except ValueError:
        return None
    if source.zone is None:
        source.note(ZONE_ASSUMED)
    return midnight + timedelta(hours=hours, minutes=int(minute), seconds=int(second or 0))


def moment_within(text: str, source: SourceFile) -> int | None:
    """The first moment anywhere in a text, in microseconds as `ts` holds it; null when there is none."""
    found = WITHIN.search(text)
    moment = report_moment(found[0], source) if found else None
    return micros(moment) if moment else None


def moment_near(text: str, near: int, source: SourceFile) -> int | None:
    """A moment without a year, `23-Jan 10:00:39`: in the year that brings it within half a year of another moment."""
    found = DAY_TIME.search(text)
    if found is None:
        return None
    year = datetime.fromtimestamp(near / 1e6, UTC).year
    for each in (year, year - 1, year + 1):
        moment = report_moment(f"{found[1]}-{each} {found[2]}", source)
        if moment and abs(micros(moment) - near) <= HALF_A_YEAR_US:
            return micros(moment)
    return None


def month_named(name: str) -> int:
    """Number of a month; 0 when its name is in no language that is known. Chinese and Japanese ones are numbers."""
    if (number := name.rstrip("月")).isdigit():
        return int(number)
    return next((at for at, begins in enumerate(MONTHS, 1) if name.upper().startswith(begins)), 0)
