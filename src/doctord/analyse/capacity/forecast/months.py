"""The turn of the month: days on which it closes or begins, and load is another than on the days between."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from doctord.analyse.capacity.forecast.robust import deviation, noise_floor
from doctord.analyse.capacity.series import DAY_S, Numbers

ORDINALS = ("first", "second", "third", "fourth", "fifth")
TURN_DAYS = len(ORDINALS)  # the last ones of a month, and the first ones
FEWEST_DAYS = 110  # four turns, or nearly
FEWEST_TURNS = 3  # on which a day was measured
NEWEST_TURNS = 6  # that say how large the departure is now
BASE_DAYS = 31  # around a day, whose median is the usual level: most of them lie between the turns
EVIDENCE = 6.0  # deviations of the noise, over the root of the number of turns
AGREED = 0.8  # of the turns, on which a day departs to the same side

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Month:
    """How days at the turn of the month depart from the others.

    Attributes:
        start: End of the first step of the prepared values.
        step_s: Seconds of a step, a day at most.
        is_working: Whether days are counted from Monday to Friday only.
        shape: What is added on a day, for each of its steps: 1 is the first day of a month, -1 the last.
    """

    start: datetime
    step_s: int
    is_working: bool
    shape: Mapping[int, Numbers]

    def over(self, first: int, steps: int) -> Numbers:
        """What the turns add to so many of these steps, and of those that follow them, from the first on."""
        days, of_day = _calendar(self.start + timedelta(seconds=first * self.step_s), steps, self.step_s)
        places = turns(days, is_working=self.is_working)
        added = np.zeros(steps)
        for place, shape in self.shape.items():
            those = places == place
            added[those] = shape[of_day[those]]
        return added

    def note(self, level: float) -> str:
        """What it is, for people, in parts of the usual level."""
        kind = "working day" if self.is_working else "day"
        said = (
            f"{_named(place)} {kind} {100 * shape.mean() / level:+.0f} %" for place, shape in sorted(self.shape.items())
        )
        return f"at the turn of the month it departs from its usual level: {', '.join(said)}"


def month_of(values: Numbers, measured: npt.NDArray[np.bool_], start: datetime, step_s: int) -> Month | None:
    """The turn of the month in a history; null where none is clear, or too few of them were seen.

    Args:
        values: Without gaps, and without the shape of the week.
        measured: Which of them were measured, not filled.
        start: End of the first step.
        step_s: Seconds of a step.
    """
    if step_s > DAY_S or DAY_S % step_s or len(values) * step_s < FEWEST_DAYS * DAY_S:
        return None
    days, of_day = _calendar(start, len(values), step_s)
    day = (days - days[0]).astype(np.int64)
    steps = np.bincount(day)
    means = np.bincount(day, values) / steps
    base = _running_median(means)
    away = np.where(np.bincount(day, measured) > steps / 2, means - base, np.nan)
    of_month = days[0] + np.arange(len(means))
    by_kind = {is_working: _clear(away, turns(of_month, is_working=is_working)) for is_working in (False, True)}
    is_working = max(
        by_kind, key=lambda kind: sum(float(np.square(away[seen]).sum()) for seen in by_kind[kind].values())
    )
    shape = {
        place: _shape(values - base[day], day, of_day, seen, DAY_S // step_s)
        for place, seen in by_kind[is_working].items()
    }
    return Month(start, step_s, is_working, shape) if shape else None


def turns(days: npt.NDArray[np.datetime64], *, is_working: bool) -> Whole:
    """The place of each day in its month's turn: 1, 2, ... from its begin, -1, -2, ... from its end, 0 between."""
    begin = days.astype("datetime64[M]").astype("datetime64[D]")
    following = (days.astype("datetime64[M]") + 1).astype("datetime64[D]")
    if is_working:
        after, before = np.busday_count(begin, days) + 1, -np.busday_count(days, following)
    else:
        after, before = (days - begin).astype(np.int64) + 1, (days - following).astype(np.int64)
    place = np.where(after <= TURN_DAYS, after, np.where(before >= -TURN_DAYS, before, 0))
    return np.where(np.is_busday(days), place, 0) if is_working else place


def _calendar(start: datetime, steps: int, step_s: int) -> tuple[npt.NDArray[np.datetime64], Whole]:
    """The day on which the middle of each step lies, and which of the day's steps it is."""
    middle_s = round(start.timestamp()) - step_s // 2 + step_s * np.arange(steps, dtype=np.int64)
    return (middle_s // DAY_S).astype("datetime64[D]"), middle_s % DAY_S // step_s


def _running_median(days: Numbers) -> Numbers:
    padded = np.pad(days, BASE_DAYS // 2, mode="reflect")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, BASE_DAYS), axis=1))


def _clear(away: Numbers, places: Whole) -> dict[int, Whole]:
    """Places that depart by more than noise, nearly always to the same side, and the days on which they were seen."""
    noise = max(deviation(away[places == 0]), noise_floor(away))
    found = {}
    for place in (*range(-TURN_DAYS, 0), *range(1, TURN_DAYS + 1)):
        seen = np.flatnonzero((places == place) & np.isfinite(away))
        if len(seen) < FEWEST_TURNS:
            continue
        usual = float(np.median(away[seen]))
        agreed = np.mean(away[seen] * np.sign(usual) > noise)
        if abs(usual) > EVIDENCE / np.sqrt(len(seen)) * noise and agreed >= AGREED:
            found[place] = seen
    return found


def _shape(away: Numbers, day: Whole, of_day: Whole, seen: Whole, a_day: int) -> Numbers:
    """The median departure of the newest of those days, by step of the day."""
    newest = seen[-NEWEST_TURNS:]
    rows = np.full((len(newest), a_day), np.nan)
    for row, one in zip(rows, newest, strict=True):
        steps = np.flatnonzero(day == one)
        row[of_day[steps]] = away[steps]
    return np.asarray(np.nanmedian(rows, axis=0))


def _named(place: int) -> str:
    nth = ORDINALS[abs(place) - 1]
    return nth if place > 0 else "last" if place == -1 else f"{nth} last"
