from itertools import product

import numpy as np
import pytest

from doctord.analyse.study.factors import Effect, Effects, effects

TWO = {"work_mem": ("4MB", "64MB"), "jit": ("on", "off"), "storage": ("disk", "ssd")}
TRUTH = {"work_mem": 0.7, "jit": 1.0, "storage": 0.5}


def runs(
    repeats: int, seed: int = 1, together: float = 1.0, noise: float = 0.03
) -> tuple[dict[str, list[str]], np.ndarray]:
    """Each setting so many times, in random order; `together`: what a larger work_mem does more on disks."""
    rng = np.random.default_rng(seed)
    cells = [cell for _ in range(repeats) for cell in product(*TWO.values())]
    rng.shuffle(cells)
    results = [
        10
        * np.prod([TRUTH[name] if level == TWO[name][1] else 1.0 for name, level in zip(TWO, cell, strict=True)])
        * (together if cell[0] == "64MB" and cell[2] == "disk" else 1.0)
        * np.exp(noise * rng.normal())
        for cell in cells
    ]
    return {name: [cell[place] for cell in cells] for place, name in enumerate(TWO)}, np.array(results)


def of(found: Effects, *factors: str) -> Effect:
    return next(one for one in found.found if one.factors == factors)


def ratio(one: Effect, base: str) -> float:
    """The ratio from a level to the other, whichever came first."""
    assert one.ratio
    return one.ratio if one.levels[0][0] == base else 1 / one.ratio


def test_each_factor_has_its_effect() -> None:
    found = effects(*runs(2), "low")
    assert found.has_products
    assert found.freedom == 16 - 7
    for name, truth in TRUTH.items():
        assert ratio(of(found, name), TWO[name][0]) == pytest.approx(truth, rel=0.05)
    assert of(found, "work_mem").levels == (("4MB", "64MB"),)
    assert of(found, "work_mem").outcome == "better"
    assert of(found, "jit").outcome == "same"


def test_two_that_act_together_are_told() -> None:
    found = effects(*runs(3, together=0.8), "low")
    both = of(found, "work_mem", "storage")
    assert both.outcome == "changed"
    assert both.ratio == pytest.approx(0.8 if both.levels[1][1] == "disk" else 1 / 0.8, rel=0.06)
    assert of(found, "work_mem", "jit").outcome == "same"


def test_high_results_may_be_the_good_ones() -> None:
    assert of(effects(*runs(2), "high"), "work_mem").outcome == "worse"


def test_what_changed_together_is_not_told_apart() -> None:
    levels = {"a": ["x", "y"] * 4, "b": ["1", "2"] * 4, "c": ["p", "p", "q", "q"] * 2}
    found = effects(levels, np.array([10, 9, 10, 9, 10.1, 9.1, 9.9, 8.9]), "low")
    assert of(found, "a") == Effect(("a",), (("x", "y"),), None, confounded_by=("b",))
    assert of(found, "b").confounded_by == ("a",)
    assert of(found, "c").outcome == "same"


def test_half_of_the_settings_say_what_else_is_in_an_effect() -> None:
    """A half fraction of three factors, c = a b: each effect has in it what the two others do together."""
    cells = [(a, b, a * b) for a in (-1, 1) for b in (-1, 1) for _ in range(2)]
    levels = {name: [str(cell[place]) for cell in cells] for place, name in enumerate("abc")}
    found = effects(levels, np.exp(np.linspace(0, 0.1, 8)), "low")
    assert not found.has_products
    assert of(found, "c").with_products == (("a", "b"),)


def test_levels_one_after_the_other_have_what_drifted_in_them() -> None:
    levels = {"a": ["x"] * 6 + ["y"] * 6, "b": ["1", "2", "2", "1"] * 3}
    found = effects(levels, np.linspace(10, 11, 12), "low")
    assert found.in_blocks == ["a"]


def test_too_few_runs_give_values_without_an_interval() -> None:
    found = effects({"a": ["x", "x", "y", "y"], "b": ["1", "2", "1", "2"]}, np.array([10.0, 9, 5, 4.5]), "low")
    assert (found.freedom, found.noise, found.has_products) == (1, None, False)
    told = of(found, "a")
    assert (told.ratio, told.low, told.outcome) == (pytest.approx(0.5), None, "untold")


def test_three_levels_are_each_held_against_the_first() -> None:
    rng = np.random.default_rng(3)
    column = ["16 GB", "4 GB", "8 GB"] * 5
    cost = {"4 GB": 10.0, "8 GB": 8.0, "16 GB": 8.0}
    found = effects({"memory": column}, np.array([cost[one] * np.exp(0.01 * rng.normal()) for one in column]), "low")
    assert [one.levels for one in found.found] == [(("4 GB", "8 GB"),), (("4 GB", "16 GB"),)]
    assert [one.ratio for one in found.found] == [pytest.approx(0.8, abs=0.02)] * 2


def test_intervals_hold_the_truth_in_95_of_100_tables() -> None:
    held = told = 0
    for seed in range(400):
        found = effects(*runs(2, seed), "low")
        for name, truth in TRUTH.items():
            one = of(found, name)
            assert one.low
            assert one.high
            wanted = truth if one.levels[0][0] == TWO[name][0] else 1 / truth
            held += one.low <= wanted <= one.high
            told += 1
    assert 0.93 <= held / told <= 0.97
