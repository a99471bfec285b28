"""A history made ready for models: what is no number left out, outliers and level shifts found, gaps filled.

Models see the prepared values only. What is shown keeps its gaps and its outliers.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from doctord.analyse.capacity.forecast.months import Month, month_of
from doctord.analyse.capacity.forecast.robust import NORMAL_MAD, noise_floor, usual_level
from doctord.analyse.capacity.forecast.shifts import level_shifts, one_way
from doctord.analyse.capacity.forecast.step_growth import StepGrowth, step_growth_of
from doctord.analyse.capacity.series import DAY_S, Numbers

FEWEST = 8  # measured steps, with fewer of them nothing is told
OUTLIER_DEVIATIONS = 15.0  # heavy tails are common in figures of load: only what stands far out is replaced
LONGEST_OUTLIER = 2  # steps; what lasts longer happened, and may again

Steps = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A history that models can read.

    Attributes:
        values: Without gaps and outliers, from the first step used to the last; level shifts evened out, but for
            stairs; the turns of the months taken off.
        first: The step of the history that `values` begins with.
        shifts, outliers: Steps of the history, where a level shift begins and where an outlier is.
        notes: What the answer rests on.
        why: Why nothing can be told from it; empty where something can.
        step_growth: Growth by steps; null where there is none.
        month: What the turns of the months add; null where they are as other days.
    """

    values: Numbers
    first: int = 0
    shifts: tuple[int, ...] = ()
    outliers: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    why: str = ""
    step_growth: StepGrowth | None = None
    month: Month | None = None

    @property
    def constant(self) -> bool:
        """Whether it never changes, but for outliers."""
        return self.month is None and bool(np.ptp(self.values) <= 1e-9 * np.abs(self.values).max())

    def turns_ahead(self, horizon: int) -> Numbers:
        """What the turns of the months add to the steps to come."""
        return self.month.over(len(self.values), horizon) if self.month else np.zeros(horizon)


def seasons(step_s: int, steps: int) -> tuple[int, ...]:
    """Steps of the seasons that a history of so many steps shows at least twice: day and week, or week, or year."""
    natural = (DAY_S, 7 * DAY_S) if step_s < 7 * DAY_S else (364 * DAY_S,)
    return tuple(s // step_s for s in natural if s // step_s > 1 and steps >= 2 * (s // step_s))


def prepared(history: Numbers, step_s: int, start: datetime | None = None) -> Prepared:
    """A history ready for models, or why nothing can be told.

    Args:
        history: A value for each step, NaN where nothing was measured.
        step_s: Seconds of a step.
        start: End of the first step; without it the days of the month are not known.
    """
    values = np.where(np.isfinite(history), history, np.nan)
    notes = []
    if infinite := int(np.isinf(history).sum()):
        notes.append(f"{infinite} infinite values were left out")
    measured = np.flatnonzero(~np.isnan(values))
    if why := _too_little(measured, len(values)):
        return Prepared(values[:0], notes=tuple(notes), why=why)
    first, gap_notes = _first_used(measured)
    last = int(measured[-1])
    used, missing = values[first : last + 1], int(np.isnan(values[first : last + 1]).sum())
    if missing:
        notes.append(f"{missing} of {len(used)} steps were not measured; models saw them filled")
    cycles = seasons(step_s, len(used))
    month = _month(used, cycles, step_s, start + timedelta(seconds=first * step_s)) if start else None
    found = _cleaned(used - month.over(0, len(used)) if month else used, cycles, step_s)
    ending = np.full(len(values) - last - 1, found.values[-1])
    return replace(
        found,
        values=np.concatenate([found.values, ending]),
        first=first,
        shifts=tuple(shift + first for shift in found.shifts),
        outliers=tuple(outlier + first for outlier in found.outliers),
        notes=(*notes, *gap_notes, *([month.note(usual_level(used))] if month else []), *found.notes),
        step_growth=replace(found.step_growth, length=len(values) - first) if found.step_growth else None,
        month=month,
    )


def _too_little(measured: Steps, steps: int) -> str:
    if len(measured) < FEWEST:
        return f"only {len(measured)} steps were measured, and {FEWEST} are the least"
    silent = steps - 1 - int(measured[-1])
    if silent > max(3, (int(measured[-1]) - int(measured[0])) // 4):
        return f"nothing was measured in the last {silent} steps"
    return ""


def _first_used(measured: Steps) -> tuple[int, list[str]]:
    """Where to begin: after the last hole that is a fifth of the history, if what follows is enough by itself."""
    span = int(measured[-1] - measured[0]) + 1
    holes = np.flatnonzero(np.diff(measured) > max(3, span // 5))
    if len(holes) and len(measured) - holes[-1] - 1 >= max(3 * FEWEST, span // 8):
        hole = int(measured[holes[-1] + 1] - measured[holes[-1]]) - 1
        return int(measured[holes[-1] + 1]), [f"what lies before a hole of {hole} steps was left out"]
    return int(measured[0]), []


def _month(used: Numbers, cycles: tuple[int, ...], step_s: int, start: datetime) -> Month | None:
    filled = gaps_filled(used, cycles)
    return month_of(filled - _profile(filled, cycles[-1] if cycles else 1), ~np.isnan(used), start, step_s)


def _cleaned(used: Numbers, cycles: tuple[int, ...], step_s: int) -> Prepared:
    filled = gaps_filled(used, cycles)
    period = cycles[-1] if cycles else 1
    profile = _profile(filled, period)
    outliers = _outliers(used - profile, period)
    notes = [f"{len(outliers)} outliers were replaced for the models"] if len(outliers) else []
    calm = used.copy()
    calm[outliers] = np.nan
    filled = gaps_filled(calm, cycles)
    if step_growth := step_growth_of(filled - profile):
        notes.append(step_growth.note(usual_level(filled), step_s))
        return Prepared(filled, 0, step_growth.places, tuple(outliers.tolist()), tuple(notes), step_growth=step_growth)
    shifts = level_shifts(filled - profile, cycles[0] if len(cycles) > 1 else 1)
    even = filled.copy()
    for shift, jump in shifts:
        even[:shift] += jump
    if one_way(shifts, even):
        notes.append(f"{len(shifts)} level shifts, all in one direction: taken for its growth")
        even = filled
    elif shifts:
        sizes = ", ".join(f"{jump:+.3g}" for _, jump in shifts[:5])
        more = ", ..." if len(shifts) > 5 else ""
        notes.append(f"{len(shifts)} level shifts ({sizes}{more}); growth is what is left without them")
    return Prepared(even, 0, tuple(shift for shift, _ in shifts), tuple(outliers.tolist()), tuple(notes))


def gaps_filled(values: Numbers, cycles: tuple[int, ...]) -> Numbers:
    """Gaps filled by straight lines plus the usual shape of the longest season."""
    missing = np.isnan(values)
    if not missing.any():
        return values
    at = np.arange(len(values))
    profile = _profile(values, cycles[-1]) if cycles else np.zeros(len(values))
    rest = values - profile
    rest[missing] = np.interp(at[missing], at[~missing], rest[~missing])
    return np.where(missing, rest + profile, values)


def _profile(values: Numbers, period: int) -> Numbers:
    """The usual departure of each step from its season's median, by its place in the season."""
    if period < 2 or len(values) < 2 * period:
        return np.zeros(len(values))
    whole = -(-len(values) // period) * period
    rows = np.concatenate([np.full(whole - len(values), np.nan), values]).reshape(-1, period)
    full = rows[np.isfinite(rows).sum(axis=1) > period // 2]
    if len(full) < 2:
        return np.zeros(len(values))
    departure = np.where(np.isnan(full), np.nanmedian(full, axis=1, keepdims=True), full)
    middle = np.median(departure, axis=1, keepdims=True)
    slope = float(np.median(np.diff(middle[:, 0]))) / period
    growth = slope * (np.arange(period) - (period - 1) / 2)
    shape = np.median(departure - middle - growth, axis=0)
    return np.tile(shape, len(rows))[whole - len(values) :]


def _outliers(values: Numbers, period: int) -> Steps:
    """Steps far from the median of their neighbours: F. R. Hampel's identifier, over a sliding window (1974)."""
    wide = min(max(5, period // 2), 12)
    padded = np.concatenate([np.full(wide, np.nan), values, np.full(wide, np.nan)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * wide + 1)
    some = np.isfinite(windows).any(axis=1)
    middle = np.full(len(values), np.nan)
    middle[some] = np.nanmedian(windows[some], axis=1)
    away = np.abs(values - middle)
    spread = max(NORMAL_MAD * np.nanmedian(away), noise_floor(values))
    far = np.flatnonzero(away > OUTLIER_DEVIATIONS * spread)
    episodes = np.split(far, np.flatnonzero(np.diff(far) > 1) + 1)
    short = [one for one in episodes if 0 < len(one) <= LONGEST_OUTLIER and one[-1] < len(values) - 1]
    return np.concatenate(short).astype(np.int64) if short else far[:0]
