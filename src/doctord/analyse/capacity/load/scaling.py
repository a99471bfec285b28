"""How throughput scales with users or CPUs: the Universal Scalability Law, fitted with its error.

    X(N) = gamma N / (1 + sigma (N - 1) + kappa N (N - 1))

gamma is the throughput of one, sigma the share of the work that queues for something shared, kappa what each pair costs
to keep consistent. N. J. Gunther, "A simple capacity model of massively parallel transaction systems" (CMG 1993), and
"Guerrilla Capacity Planning" (Springer, 2007), chapter 4.
"""

from dataclasses import dataclass

import numpy as np

from doctord.analyse.capacity.forecast.intervals import student
from doctord.analyse.capacity.load.estimate import Estimate
from doctord.analyse.capacity.series import Numbers

FEWEST = 5  # different N: three coefficients are fitted, and their error is to be told
ENOUGH = 10  # points that tell how the error differs along N
EXPLAINED = 0.5  # share of the variation; less is not N's doing
VAGUE = 0.5  # half the interval of sigma, which is between 0 and 1
SPREAD = 2.0  # the highest N is at least so many times the lowest
STEPS = 60  # of the search; it needs about ten
SETTLED = 1e-12  # the sum of squares no longer shrinks


@dataclass(frozen=True, slots=True)
class Scaling:
    """The law, fitted.

    Attributes:
        gamma: Throughput of one.
        sigma: Contention, 0 to 1; below nothing: more than proportional growth.
        kappa: Cost of coherency.
        users: N at which throughput peaks; null where it cannot be told that it does.
        peak: Throughput there; null likewise.
        limit: Throughput that is approached but never reached, gamma / sigma, where it has no peak; null with one, or
            where sigma cannot be told from nothing.
        level: Share of such intervals that hold the truth.
        residual: Standard deviation of the residuals, in the unit of the throughput.
        points: How many points it rests on.
        highest: Highest N seen.
        why: Why nothing can be told; empty where something can. The coefficients are NaN then.
    """

    gamma: Estimate
    sigma: Estimate
    kappa: Estimate
    users: Estimate | None = None
    peak: Estimate | None = None
    limit: Estimate | None = None
    level: float = 0.95
    residual: float = np.nan
    points: int = 0
    highest: float = np.nan
    why: str = ""

    def throughput(self, users: Numbers | float) -> Numbers:
        """The throughput that the law gives for N users or CPUs."""
        return law(np.asarray(users, float), np.array([self.gamma.value, self.sigma.value, self.kappa.value]))


def law(users: Numbers, coefficients: Numbers) -> Numbers:
    """X(N) for gamma, sigma, kappa.

    >>> law(np.array([1.0, 10.0]), np.array([20.0, 0.02, 0.002])).round(2).tolist()
    [20.0, 147.06]
    """
    gamma, sigma, kappa = coefficients
    return np.asarray(gamma * users / _loss(users, sigma, kappa))


def fitted(users: Numbers, throughput: Numbers, level: float = 0.95) -> Scaling:
    """The law through points, by least squares (Levenberg and Marquardt), with standard errors.

    The interval of the peak's N = sqrt((1 - sigma) / kappa) is that of a ratio of two normal variables: E. C. Fieller,
    "Some problems in interval estimation" (1954).

    Args:
        users: N of each point: active sessions, users, threads or CPUs.
        throughput: X of each.
        level: Share of such intervals that are to hold the truth.
    """
    known = np.isfinite(users) & np.isfinite(throughput) & (users > 0) & (throughput > 0)
    users, throughput = users[known], throughput[known]
    if why := _unfit(users):
        return _untold(why, len(users))
    best = _least_squares(users, throughput)
    if best is None:
        return _untold("the law does not fit: throughput does not rise with N even at the lowest", len(users))
    freedom = len(users) - len(best)
    left = throughput - law(users, best)
    residual = float(np.sqrt(left @ left / freedom))
    covariance = _covariance(_derivatives(users, best), left)
    wide = student(level, freedom)
    half = wide * np.sqrt(np.diag(covariance))
    if why := _doubtful(throughput, left, best[1], half[1]):
        return _untold(why, len(users))
    gamma, sigma, kappa = (Estimate(*map(float, row)) for row in zip(best, best - half, best + half, strict=True))
    at, peak = _peak(best, covariance, wide)
    limit = None if at else _limit(best, covariance, wide)
    return Scaling(gamma, sigma, kappa, at, peak, limit, level, residual, len(users), float(users.max()))


def _unfit(users: Numbers) -> str:
    distinct = len(np.unique(users))
    if distinct < FEWEST:
        return f"{distinct} different N, and it takes {FEWEST}"
    if users.max() < SPREAD * users.min():
        return f"N was {users.min():.3g} to {users.max():.3g} only: the highest must be twice the lowest"
    return ""


def _doubtful(throughput: Numbers, left: Numbers, sigma: float, half: float) -> str:
    """Why a fit is no answer, though it is the best there is."""
    around = throughput - throughput.mean()
    explained = 1 - float(left @ left) / max(float(around @ around), 1e-300)
    if explained < EXPLAINED:
        return f"N explains {100 * max(explained, 0):.0f} % of the throughput's variation: other work is mixed in"
    if sigma > 1:
        return "throughput falls from the first one on: that is another mix of work, not scaling"
    if half > VAGUE:
        return f"sigma is between {sigma - half:.2g} and {sigma + half:.2g}: the points lie too far apart"
    return ""


def _untold(why: str, points: int) -> Scaling:
    none = Estimate(np.nan, np.nan, np.nan)
    return Scaling(none, none, none, points=points, why=why)


def _loss(users: Numbers, sigma: float, kappa: float) -> Numbers:
    return np.asarray(1 + sigma * (users - 1) + kappa * users * (users - 1))


def _derivatives(users: Numbers, coefficients: Numbers) -> Numbers:
    gamma, sigma, kappa = coefficients
    loss = _loss(users, sigma, kappa)
    by_sigma = -gamma * users * (users - 1) / loss**2
    return np.column_stack([users / loss, by_sigma, by_sigma * users])


def _least_squares(users: Numbers, throughput: Numbers) -> Numbers | None:
    """The coefficients of least squares; null where none with a positive throughput is found.

    N / X is linear in 1/gamma, sigma/gamma and kappa/gamma: that is where the search starts.
    """
    linear = np.column_stack([np.ones_like(users), users - 1, users * (users - 1)])
    start = np.linalg.lstsq(linear * throughput[:, None], users, rcond=None)[0]
    if start[0] <= 0:
        return None
    best = np.array([1 / start[0], start[1] / start[0], start[2] / start[0]])
    if not (_loss(users, best[1], best[2]) > 0).all():
        return None
    return _descended(users, throughput, best)


def _descended(users: Numbers, throughput: Numbers, best: Numbers) -> Numbers:
    """From coefficients near by to those of least squares."""
    left, damping = throughput - law(users, best), 1e-3
    for _ in range(STEPS):
        slopes = _derivatives(users, best)
        normal = slopes.T @ slopes
        tried = best + np.linalg.solve(normal + damping * np.diag(np.diag(normal)), slopes.T @ left)
        after = throughput - law(users, tried)
        gain = left @ left - after @ after
        if gain < 0 or tried[0] <= 0 or not (_loss(users, *tried[1:]) > 0).all():
            damping *= 10
            continue
        best, left, damping = tried, after, damping / 10
        if gain <= SETTLED * (left @ left):
            break
    return best


def _covariance(slopes: Numbers, left: Numbers) -> Numbers:
    """Of the coefficients. With points enough the error need not be the same at each N: mostly it grows with X.

    HC3 of J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators" (1985).
    """
    inverse = np.linalg.inv(slopes.T @ slopes)
    if len(left) < ENOUGH:
        return np.asarray(inverse * (left @ left) / (len(left) - len(inverse)))
    leverage = np.einsum("ij,jk,ik->i", slopes, inverse, slopes)
    alone = (left / np.maximum(1 - leverage, 1e-6))[:, None]
    return np.asarray(inverse @ (slopes * alone).T @ (slopes * alone) @ inverse)


def _peak(best: Numbers, covariance: Numbers, wide: float) -> tuple[Estimate | None, Estimate | None]:
    """Where throughput peaks, and how high; null where kappa cannot be told from nothing."""
    _, sigma, kappa = best
    if kappa <= wide * np.sqrt(covariance[2, 2]) or sigma >= 1:
        return None, None
    at = np.sqrt((1 - sigma) / kappa)
    # Fieller: the q for which (1 - sigma) - q kappa does not differ from nothing by more than its error allows.
    square = kappa**2 - wide**2 * covariance[2, 2]
    middle = (1 - sigma) * kappa + wide**2 * covariance[1, 2]
    constant = (1 - sigma) ** 2 - wide**2 * covariance[1, 1]
    root = np.sqrt(max(middle**2 - square * constant, 0.0))
    low, high = (np.sqrt(max(middle + sign * root, 0.0) / square) for sign in (-1, 1))
    slopes = _derivatives(np.array([at]), best)[0]
    top = float(law(np.array([at]), best)[0])
    half = wide * float(np.sqrt(slopes @ covariance @ slopes))
    return Estimate(float(at), float(low), float(high)), Estimate(top, top - half, top + half)


def _limit(best: Numbers, covariance: Numbers, wide: float) -> Estimate | None:
    """The throughput that N without end would reach, as G. Amdahl's law has it; null without contention."""
    gamma, sigma, _ = best
    if sigma <= wide * np.sqrt(covariance[1, 1]):
        return None
    slopes = np.array([1 / sigma, -gamma / sigma**2, 0.0])
    half = wide * float(np.sqrt(slopes @ covariance @ slopes))
    return Estimate(float(gamma / sigma), float(gamma / sigma - half), float(gamma / sigma + half))
