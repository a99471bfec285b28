"""Curves of response against load through what was observed, with their error; or why nothing can be told.

Points are averaged in bins of equal number by load. A curve is held against a bin at the same number of requests in
the system, N = load x response (J. D. C. Little, 1961), not at the same load: near saturation the load hardly moves
while the response may be anything. Of several curves Akaike's criterion for few points says which fit about as well
(C. M. Hurvich, C.-L. Tsai, 1989); intervals are those of all of these, each fitted anew to resampled blocks of time
(H. R. Künsch, "The jackknife and the bootstrap for general stationary observations", 1989).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import numpy as np

from doctord.analyse.capacity.load.estimate import Estimate
from doctord.analyse.capacity.load.queueing import RHO, Curves, Erlang, Power, waiting
from doctord.analyse.capacity.series import Numbers

LEVEL: Final = 0.95
FEWEST: Final = 8  # points
BINS: Final = 24
MOST_POINTS: Final = 4000  # more tell no more, and take longer
BLOCKS: Final = 25
RESAMPLES: Final = 200
SPREAD: Final = 2.0  # the highest load is at least so many times the lowest
RISES: Final = 1.15  # what the response rises by, at least, if it depends on the load
SUPPORT: Final = 10.0  # of Akaike's criterion; more says that there is none: K. P. Burnham, D. R. Anderson (2002), 2.6
FAR: Final = 2.0  # times the highest load: beyond that a curve is a guess
NO_END: Final = 10.0  # likewise: no upper end is known
OUTLIER: Final = 6.0  # median deviations of its bin
SERVERS: Final = (*range(1, 33), 40, 48, 64, 96, 128)
STEPS: Final = 15  # of the search: more change only what has no end anyway
MOST_SUDDEN, LEAST_SUDDEN = 64.0, 0.5


_Fit: TypeAlias = tuple[Curves, Numbers, int]  # the curves, what is left of each bin, how many coefficients


@dataclass(frozen=True, eq=False)
class Queue:
    """What was observed of a queue, and the curves that fit.

    Attributes:
        curves: Those that fit about as well as the best, which is the first; none where nothing can be told.
        lowest, highest: Least and most load of a point.
        points: How many were observed.
        why: Why nothing can be told.
        is_flat: Whether that is because the response is the same at all loads seen.
    """

    curves: Sequence[Curves] = field(default=())
    lowest: float = np.nan
    highest: float = np.nan
    points: int = 0
    why: str = ""
    is_flat: bool = False

    @property
    def service(self) -> Estimate:
        """Response at no load, with its interval, in the unit of the responses."""
        return self._estimate([curve.service for curve in self.curves], np.inf)

    @property
    def saturation(self) -> Estimate:
        """The load at which the response has no bound, with its interval, in the unit of the loads."""
        return self._load([curve.saturation for curve in self.curves])

    def knee(self, stretch: float = 2.0) -> Estimate:
        """The load at which the response is so many times the one without a queue."""
        return self._load([curve.load_at(stretch) for curve in self.curves])

    def load_at(self, response: float) -> Estimate | None:
        """The load at which the response is so long; null where it is that long without any."""
        stretches = [response / curve.service for curve in self.curves]
        if stretches[0][0] <= 1:
            return None
        pairs = zip(self.curves, stretches, strict=True)
        return self._load([curve.load_at(np.maximum(stretch, 1.0)) for curve, stretch in pairs])

    def response(self, load: float) -> Estimate:
        """The response at a load; infinite, or without upper end, where that may be beyond saturation."""
        return self._estimate([curve.response(load) for curve in self.curves], np.inf)

    def is_far(self, load: float) -> bool:
        """Whether a load is so far above all that was observed that a curve is a guess there."""
        return load > FAR * self.highest

    def _load(self, members: Sequence[Numbers]) -> Estimate:
        return self._estimate(members, NO_END * self.highest)

    def _estimate(self, members: Sequence[Numbers], no_end: float) -> Estimate:
        ends = [np.quantile(one, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="nearest") for one in members]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        best = float(members[0][0])
        return Estimate(best, min(float(low), best), None if high >= no_end else max(float(high), best))


def fitted(loads: Numbers, responses: Numbers, seed: int = 1917) -> Queue:
    """The curves of response against load through points in the order of time.

    Args:
        loads: Requests per second, of each point.
        responses: Mean seconds of a request, of each.
        seed: Of the resampling.
    """
    known = np.isfinite(loads) & np.isfinite(responses) & (loads > 0) & (responses > 0)
    loads, responses = thinned(loads[known]), thinned(responses[known])
    count = int(known.sum())
    if count < FEWEST:
        return Queue(points=count, why=f"{count} points with requests, and it takes {FEWEST}")
    load, response = binned(*resampled(loads, responses, seed))
    seen = Queue(lowest=float(loads.min()), highest=float(loads.max()), points=count)
    if load[0, -1] < SPREAD * load[0, 0]:
        return replace(seen, why=f"the load was mostly {load[0, 0]:.3g} to {load[0, -1]:.3g}: it must double")
    erlang = _erlang(load, response)
    kinds: list[_Fit] = [erlang, _power(load, response, erlang[0])]
    scores = [_score(error[0], freedom) for _, error, freedom in kinds]
    flat = _score(np.log(response[0]) - np.log(response[0]).mean(), 1)
    best = kinds[int(np.argmin(scores))][0]
    rise = float(best.response(load[0, -1])[0] / best.response(load[0, 0])[0])
    if min(scores) > flat - SUPPORT or rise < RISES:
        return replace(seen, why=f"the response does not depend on the load up to {seen.highest:.3g}", is_flat=True)
    order = np.argsort(scores)
    curves = [kinds[place][0] for place in order if scores[place] <= min(scores) + SUPPORT]
    return Queue(curves, seen.lowest, seen.highest, count)


def thinned(values: Numbers) -> Numbers:
    """No more points than are needed, evenly spread over time."""
    if len(values) <= MOST_POINTS:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, MOST_POINTS).astype(int)])


def resampled(loads: Numbers, responses: Numbers, seed: int) -> tuple[Numbers, Numbers]:
    """The points, a row of all of them, and a row for each resample of blocks of them."""
    blocks = min(len(loads), BLOCKS)
    length = len(loads) // blocks
    begins = np.random.default_rng(seed).integers(0, len(loads) - length + 1, (RESAMPLES, -(-len(loads) // length)))
    places = (begins[:, :, None] + np.arange(length)).reshape(RESAMPLES, -1)[:, : len(loads)]
    places = np.vstack([np.arange(len(loads)), places])
    return loads[places], responses[places]


def in_bins(loads: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    """Rows x bins of equal number by load x points; the few points over, those of least load, are left out."""
    bins = min(BINS, loads.shape[1])
    each = loads.shape[1] // bins
    order = np.argsort(loads, axis=1, kind="stable")[:, -bins * each :]
    load, value = (np.take_along_axis(one, order, axis=1).reshape(-1, bins, each) for one in (loads, values))
    return load, value


def binned(loads: Numbers, responses: Numbers) -> tuple[Numbers, Numbers]:
    """Mean load and mean response (by request) of each bin, without outliers."""
    load, response = in_bins(loads, responses)
    logs = np.log(response)
    away = np.abs(logs - np.median(logs, axis=2, keepdims=True))
    requests = load * (away <= OUTLIER * np.median(away, axis=2, keepdims=True) + 1e-9)
    return requests.sum(axis=2) / (requests > 0).sum(axis=2), (requests * response).sum(axis=2) / requests.sum(axis=2)


def _score(errors: Numbers, freedom: int) -> float:
    """Akaike's criterion, corrected for few points, of what is left of each bin, in logarithms; the less the better."""
    bins = len(errors)
    spread = float(errors @ errors) / bins + 1e-12
    return float(bins * np.log(spread)) + 2 * freedom + 2 * freedom * (freedom + 1) / (bins - freedom - 1)


def _erlang(load: Numbers, response: Numbers) -> tuple[Erlang, Numbers, int]:
    """M/M/m of least squares in each row: for each number of servers the work of a request follows at once."""
    requests = np.log(load * response)
    least = np.full(len(load), np.inf)
    service, servers, left = np.ones(len(load)), np.ones(len(load)), np.zeros_like(load)
    for count in SERVERS:
        busy = RHO * count
        error = np.interp(requests, np.log(busy * (1 + waiting(count))), np.log(busy)) - np.log(load)
        mean = error.mean(axis=1)
        error -= mean[:, None]
        squares = (error**2).sum(axis=1)
        better = squares < least
        least[better], service[better], servers[better] = squares[better], np.exp(mean[better]), count
        left[better] = error[better]
    return Erlang(service, servers / service, servers, np.ones(len(load))), left, 2


def _power(load: Numbers, response: Numbers, start: Erlang) -> tuple[Power, Numbers, int]:
    """S / (1 - rho^k) of least squares in each row (Levenberg and Marquardt), from where M/M/m is."""
    best = np.log(np.column_stack([start.service, start.saturation, np.minimum(start.servers, MOST_SUDDEN)]))
    error, slopes = _left_of(best, load, response)
    damping = np.full(len(load), 1e-2)
    for _ in range(STEPS):
        normal = np.einsum("rbi,rbj->rij", slopes, slopes)
        normal += damping[:, None, None] * (normal * np.eye(3) + 1e-9 * np.eye(3))
        step = np.linalg.solve(normal, np.einsum("rbi,rb->ri", slopes, error)[:, :, None])[:, :, 0]
        tried = best + np.clip(step, -1, 1)
        tried[:, 2] = np.clip(tried[:, 2], np.log(LEAST_SUDDEN), np.log(MOST_SUDDEN))
        after, its_slopes = _left_of(tried, load, response)
        gains = (after**2).sum(axis=1) < (error**2).sum(axis=1)
        best[gains], error[gains], slopes[gains] = tried[gains], after[gains], its_slopes[gains]
        damping = np.where(gains, damping / 5, damping * 5)
    service, saturation, exponent = np.exp(best).T
    return Power(service, saturation, exponent), error, 3


def _left_of(logs: Numbers, load: Numbers, response: Numbers) -> tuple[Numbers, Numbers]:
    """What is left of each bin at the same number of requests, and how the curve moves with each coefficient's log.

    With rho of saturation, a = saturation x service and N requests in the system: a rho + N rho^k = N.
    """
    service, saturation, exponent = (column[:, None] for column in np.exp(logs).T)
    requests, busy = load * response, saturation * service
    low, high = np.zeros_like(requests), np.minimum(1.0, requests / busy)
    for _ in range(40):
        middle = (low + high) / 2
        is_high = busy * middle + requests * middle**exponent > requests
        low, high = np.where(is_high, low, middle), np.where(is_high, middle, high)
    rho = np.maximum((low + high) / 2, 1e-12)
    power = requests * rho**exponent
    steep = busy * rho + exponent * power
    by_busy, by_exponent = -busy * rho / steep, -power * np.log(rho) * exponent / steep
    return np.log(load) - np.log(saturation * rho), np.stack([by_busy, 1 + by_busy, by_exponent], axis=-1)
