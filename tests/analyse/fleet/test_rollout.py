from math import exp

import numpy as np
import pytest

from doctord.analyse.fleet.rollout import Moved, rollout


def hosts(seed: int, many: int, moved: float, load: float | None = 1.0) -> list[Moved]:
    """So many, that cost so much more on the mean, and differ by a tenth among themselves."""
    noise = np.random.default_rng(seed).normal(0, 0.1, many)
    return [Moved(moved * exp(one), load) for one in noise]


def test_what_all_hosts_did_is_not_of_the_change() -> None:
    found = rollout(hosts(1, 12, 0.8 * 1.3), hosts(2, 12, 1.3))
    assert found.verdict == "better"
    assert found.net is not None
    assert found.net.ratio == pytest.approx(0.8, rel=0.1)
    assert found.net.before is not None
    assert found.net.before.value == pytest.approx(1.3, rel=0.1)
    assert rollout(hosts(1, 12, 1.3), hosts(2, 12, 1.3)).verdict == "no difference"
    assert rollout(hosts(1, 12, 1.3 * 1.3), hosts(2, 12, 1.3)).verdict == "worse"


def test_chance_is_no_change_as_often_as_is_promised() -> None:
    told = [rollout(hosts(seed, 5, 1.0), hosts(seed + 10_000, 8, 1.0)).verdict for seed in range(400)]
    assert 0.92 <= told.count("no difference") / len(told) <= 0.98


def test_where_nothing_can_be_compared_it_says_why() -> None:
    few = rollout(hosts(1, 2, 0.5), hosts(2, 9, 1.0))
    assert (few.verdict, few.why) == ("not comparable", "of the changed hosts 2 could be compared, 3 are wanted")
    none = rollout(hosts(1, 5, 0.5), [])
    assert none.why == "of the other hosts 0 could be compared, 3 are wanted"
    apart = rollout(hosts(1, 5, 0.5, load=1.5), hosts(2, 5, 1.0))
    assert apart.verdict == "not comparable"
    assert "did not change alike: +50 % and +0 %" in apart.why
    unknown = rollout(hosts(1, 5, 0.5, load=None), hosts(2, 5, 1.0))
    assert (unknown.verdict, unknown.why) == ("better", "whether their loads changed alike is not known")
    slower = rollout(hosts(1, 5, 1.5, load=0.7), hosts(2, 5, 1.0))
    assert slower.verdict == "worse", "of fixed sessions fewer calls are what dearer ones come to"
