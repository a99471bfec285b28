"""Which model to believe: each forecasts parts of the history that it has not seen, beside seasonal naive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from doctord.analyse.capacity.forecast.models import SEASONAL_NAIVE, Model
from doctord.analyse.capacity.forecast.prepare import FEWEST, Prepared, prepared
from doctord.analyse.capacity.series import Numbers, Series

ORIGINS = 4  # parts of the history that are forecast
TINY = 1e-300  # so that nothing over nothing is one
BELIEF = 6.0  # origins that the mean over all series is worth when models of one series are compared


@dataclass(frozen=True, eq=False)
class Tried:
    """How the models did on parts of the history.

    Attributes:
        said: What each model, or mean of two, said: series x origins x steps; NaN where it said nothing.
        true: What came: series x origins x steps; NaN where nothing was measured.
    """

    said: Mapping[str, Numbers]
    true: Numbers

    def errors(self) -> dict[str, Numbers]:
        """Mean absolute error of each series by model; NaN where it forecast less than half of the parts.

        A part that only others forecast is made up for by seasonal naive, whose error tells how hard it was.
        """
        naive = mean_known(np.abs(self.said[SEASONAL_NAIVE] - self.true), (2,))
        found = {}
        for name, said in self.said.items():
            size = mean_known(np.abs(said - self.true), (2,))
            both = np.where(np.isfinite(size), naive, np.nan)
            enough = 2 * np.isfinite(size).sum(axis=1) >= np.isfinite(naive).sum(axis=1)
            harder = (mean_known(naive, (1,)) + TINY) / (mean_known(both, (1,)) + TINY)
            found[name] = np.where(enough, mean_known(size, (1,)) * harder, np.nan)
        return found


def tried(series: Sequence[Series], models: Mapping[str, Model], horizon: int) -> Tried:
    """The models on parts of the histories that they have not seen; the last origins have the most history before them.

    Args:
        series: As measured, of equal steps.
        models: By name.
        horizon: Steps ahead; of a short history no more than its last quarter is compared.
    """
    shape, step_s = (len(series), ORIGINS, horizon), series[0].step_s
    said, true = {name: np.full(shape, np.nan) for name in models}, np.full(shape, np.nan)
    for origin in range(ORIGINS):
        cuts = [_cut(len(one.values), horizon, origin) for one in series]
        for row, cut, one in zip(true, cuts, series, strict=True):
            after = one.values[cut : cut + horizon] if cut else one.values[:0]
            row[origin, : len(after)] = np.where(np.isfinite(after), after, np.nan)
        seen = [prepared(one.values[:cut], step_s, one.start) for one, cut in zip(series, cuts, strict=True)]
        for name, ahead in forecasts(seen, models, horizon, step_s).items():
            said[name][:, origin] = ahead
    return Tried(with_means(said), true)


def forecasts(seen: Sequence[Prepared], models: Mapping[str, Model], horizon: int, step_s: int) -> dict[str, Numbers]:
    """What each model says of prepared histories: series x steps; NaN where nothing can be told."""
    told = [place for place, one in enumerate(seen) if not one.why]
    some = [seen[place] for place in told]
    ahead = {name: np.full((len(seen), horizon), np.nan) for name in models}
    if told:
        turns = np.array([one.turns_ahead(horizon) for one in some])
        for name, model in models.items():
            ahead[name][told] = model(some, horizon, step_s) + turns
    return ahead


def with_means(said: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Models, and the mean of any two of them, but for seasonal naive, which is what they are compared with."""
    pairs = combinations([name for name in said if name != SEASONAL_NAIVE], 2)
    return {**said, **{f"{one} + {other}": (said[one] + said[other]) / 2 for one, other in pairs}}


def best(past: Tried, ahead: Mapping[str, Numbers]) -> list[str]:
    """The model of each series: the least error beside seasonal naive's, drawn towards how it does on all series.

    Args:
        past: How the models did.
        ahead: What they say of the steps to come; a model that says nothing there is out of the question.
    """
    errors = past.errors()
    # What never errs, on a history that repeats itself exactly, cannot be beaten.
    naive = np.where(errors[SEASONAL_NAIVE] > 0, errors[SEASONAL_NAIVE], np.nan)
    names = list(errors)
    ratios = np.array([np.log((errors[name] + 1e-9 * naive) / naive) for name in names])
    silent = np.array([np.isnan(ahead[name]).any(axis=1) for name in names])
    ratios[~np.isfinite(ratios) | silent] = np.nan
    usual = mean_known(ratios, (1,))[:, None]
    scores = (ORIGINS * ratios + BELIEF * usual) / (ORIGINS + BELIEF)
    scores[names.index(SEASONAL_NAIVE)] = 0.0
    return [names[place] for place in np.argmin(np.where(np.isnan(scores), np.inf, scores), axis=0)]


def unseen_errors(past: Tried, ahead: Mapping[str, Numbers]) -> Numbers:
    """Errors in each part of the history of the model that is best in the other parts: series x origins x steps.

    The model chosen by the same errors would look better than it is.
    """
    errors = np.empty_like(past.true)
    for origin in range(past.true.shape[1]):
        said = {name: np.delete(one, origin, 1) for name, one in past.said.items()}
        others = Tried(said, np.delete(past.true, origin, 1))
        for place, name in enumerate(best(others, ahead)):
            errors[place, origin] = past.true[place, origin] - past.said[name][place, origin]
    return errors


def _cut(steps: int, horizon: int, origin: int) -> int:
    """Where a history ends for an origin; 0 where too little is left. Origins lie apart by up to the horizon."""
    least = max(2 * FEWEST, steps // 3)
    apart = max(1, min(horizon, (steps - horizon - least) // max(1, ORIGINS - 1)))
    cut = steps - min(horizon, max(1, steps // 4)) - origin * apart
    return cut if cut >= least else 0


def mean_known(values: Numbers, axes: tuple[int, ...]) -> Numbers:
    """The mean of what is known, NaN where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=axes)
    return np.where(count > 0, np.where(known, values, 0.0).sum(axis=axes) / np.maximum(count, 1), np.nan)
