"""Growth by steps: space that is added in pieces, loads that come in batches."""

from dataclasses import dataclass

import numpy as np

from doctord.analyse.capacity.forecast.robust import deviation, noise_floor
from doctord.analyse.capacity.forecast.shifts import change_points
from doctord.analyse.capacity.series import Numbers

FEWEST = 3  # steps up, or down, that make stairs
SHORTEST = 4  # values on one level
PENALTY = 25.0  # of one more level, in variances of the noise
DEVIATIONS = 3.0  # of its error, by which a step is clear
IRREGULAR = 0.6  # of their mean: sizes or times that vary by more are no stairs
BETTER = 0.7  # of the squares that a line leaves, stairs leave less
LEVEL = 7  # values that tell the level on which it ends


@dataclass(frozen=True, eq=False)
class Stairs:
    """Growth by steps.

    Attributes:
        places: Where the steps are: the first value on the new level.
        sizes: How far each goes, all to one side.
        slope: Growth between steps, from value to value.
        length: Values of the history.
    """

    places: tuple[int, ...]
    sizes: Numbers
    slope: float
    length: int

    @property
    def gaps(self) -> Numbers:
        """Values from each step to the next."""
        return np.diff(self.places).astype(np.float64)

    def ahead(self, horizon: int, deviations: float = 0.0) -> Numbers:
        """What is added to the level in each value to come.

        Args:
            horizon: Values to come.
            deviations: How much sooner and larger the steps come than usual, in their own deviations; times add up
                as those of a renewal process do (D. R. Cox, "Renewal Theory", 1962), with the error of the mean.
        """
        gaps, size = self.gaps, float(np.mean(self.sizes))
        number = np.arange(1, horizon + 2)
        spread = float(gaps.std(ddof=1)) * np.sqrt(number + number**2 / len(gaps))
        times = self.places[-1] + gaps.mean() * number
        late = max(0.0, self.length - float(times[0]))
        moments = np.maximum(times + late - deviations * spread, self.length)
        taller = deviations * float(self.sizes.std(ddof=1)) * np.sqrt(number + number**2 / len(self.sizes))
        heights = np.concatenate([[0.0], size * number + np.sign(size) * taller])
        values = self.length + np.arange(horizon)
        climbed = np.searchsorted(np.sort(np.rint(moments)), values, side="right")
        return np.asarray(heights[climbed] + self.slope * (np.arange(horizon) + 1.0))

    def note(self, step_s: int) -> str:
        """What it is, for people."""
        size, days = self.sizes.mean(), self.gaps * step_s / 86_400
        sizes = f"{size:+.3g} (deviation {self.sizes.std(ddof=1):.2g})"
        return f"it grows by steps: {len(self.sizes)} of {sizes}, {days.mean():.3g} days apart ({days.std(ddof=1):.2g})"


def stairs_of(values: Numbers) -> Stairs | None:
    """The stairs in a history without gaps and seasons; null where there are none, or a line does nearly as well.

    Levels come from PELT (R. Killick, P. Fearnhead, I. A. Eckley, 2012), as `ruptures` does it. A line would be cut
    into levels too: growth within the levels is therefore taken off the steps between them.
    """
    noise = max(deviation(np.diff(values)) / np.sqrt(2), noise_floor(values))
    places = change_points(values / noise, SHORTEST, PENALTY)
    if not FEWEST <= len(places) <= len(values) / (2 * SHORTEST):
        return None
    parts = np.split(np.arange(len(values)), places)
    lengths, centres = np.array([len(part) for part in parts]), np.array([part.mean() for part in parts])
    levels = np.array([values[part].mean() for part in parts])
    at = np.arange(len(values)) - np.repeat(centres, lengths)
    within = values - np.repeat(levels, lengths)
    slope = float(at @ within / (at @ at))
    sizes = np.diff(levels) - slope * np.diff(centres)
    errors = noise * np.sqrt(1 / lengths[1:] + 1 / lengths[:-1])
    is_regular = all(spread.std(ddof=1) <= IRREGULAR * abs(spread.mean()) for spread in (sizes, np.diff(places)))
    is_clear = bool((np.abs(sizes) > DEVIATIONS * errors).all()) and abs(np.sign(sizes).sum()) == len(sizes)
    left, line = (
        within - slope * at,
        values - np.polyval(np.polyfit(np.arange(len(values)), values, 1), np.arange(len(values))),
    )
    if not (is_regular and is_clear and left @ left < BETTER * (line @ line)):
        return None
    return Stairs(tuple(places), sizes, slope, len(values))
