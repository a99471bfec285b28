"""A change that was made on some hosts of a fleet: what it did, less what happened to the others meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import Final

from doctord.analyse.study.difference import LEVEL, Difference, of_means
from doctord.analyse.study.samples import Mean
from doctord.analyse.study.verdict import Verdict

# Two hosts tell nothing of how hosts differ by themselves that an interval could be made of.
FEWEST_HOSTS: Final = 3
# Loads that changed by so much more on one side than on the other, as logarithm, were not one load.
LOADS_APART: Final = 0.1


@dataclass(frozen=True, slots=True)
class Moved:
    """How one host moved: the cost of a unit of load after over before, and its load likewise (null: not known)."""

    cost: float
    load: float | None


@dataclass(frozen=True, slots=True)
class Rollout:
    """What a change did.

    Attributes:
        verdict: What to make of it.
        why: The reason, where nothing is compared.
        net: The cost after over before on the hosts that were changed, over the same of the others; null where
            either are too few. Its `after` and `before` are these two ratios, each with its error.
        loads: How many times as much load, of the changed hosts and of the others; null where that is not known.
    """

    verdict: Verdict
    why: str
    net: Difference | None
    loads: tuple[float | None, float | None]


def rollout(changed: Sequence[Moved], others: Sequence[Moved]) -> Rollout:
    """Difference in differences over hosts: each host is one observation, so that its rows need not be independent.

    The mean of the logarithms of both groups, their difference with an interval of Student's t (Welch, 1947); the
    method: O. Ashenfelter, D. Card, "Using the longitudinal structure of earnings to estimate the effect of training
    programs" (1985). It needs the groups to move alike without the change.

    Args:
        changed: The hosts that were changed.
        others: Those that were not.
    """
    loads = _mean([one.load for one in changed]), _mean([one.load for one in others])
    for hosts, whose in ((changed, "changed"), (others, "other")):
        if len(hosts) < FEWEST_HOSTS:
            why = f"of the {whose} hosts {len(hosts)} could be compared, {FEWEST_HOSTS} are wanted"
            return Rollout("not comparable", why, None, loads)
    net = of_means(_of(others), _of(changed))
    is_told = net.p is not None and net.p <= 1 - LEVEL
    is_worse = is_told and (net.ratio or 0.0) > 1
    # Of fixed sessions fewer calls are what dearer ones come to, and no other load.
    if loads[0] and loads[1] and abs(log(loads[0] / loads[1])) > LOADS_APART and not (is_worse and loads[0] < loads[1]):
        told = " and ".join(f"{100 * (ratio - 1):+.0f} %" for ratio in (loads[0], loads[1]))
        return Rollout(
            "not comparable", f"the load of changed and other hosts did not change alike: {told}", net, loads
        )
    verdict: Verdict = "no difference" if not is_told or net.ratio is None else "better" if net.ratio < 1 else "worse"
    return Rollout(verdict, "" if None not in loads else "whether their loads changed alike is not known", net, loads)


def _of(hosts: Sequence[Moved]) -> Mean:
    logs = [log(one.cost) for one in hosts]
    return Mean(exp(fmean(logs)), stdev(logs) / sqrt(len(logs)), len(logs) - 1, len(logs))


def _mean(ratios: Sequence[float | None]) -> float | None:
    known = [log(ratio) for ratio in ratios if ratio]
    return exp(fmean(known)) if known else None
