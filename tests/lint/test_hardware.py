"""Rules on a machine's modules."""

import pytest

from doctord.lint.rule import RULES
from doctord.report import phrases
from settings_datasets import GIB, dataset, violations


def said(**slots: int) -> dict[str, str]:
    held = dataset("dmi", {f"dimm.{name}": size * GIB for name, size in slots.items()})
    return {rule: phrases.said(found.title) for rule, found in violations(held).items()}


@pytest.mark.parametrize(
    ("slots", "title"),
    [
        ({"DIMM_A1": 16, "DIMM_B1": 16, "DIMM_C1": 0, "DIMM_D1": 0}, "2 of 4 memory channels have no module"),
        ({"P1_A1": 16, "P1_B1": 16, "P2_A1": 16, "P2_B1": 0}, "1 of 4 memory channels have no module"),
        ({"A1": 16, "A2": 16, "B1": 16, "B2": 0}, "memory channels hold 16.0 GiB to 32.0 GiB each"),
    ],
)
def test_channels_that_are_not_filled_alike(slots: dict[str, int], title: str) -> None:
    assert said(**slots) == {"dmi/memory_channels_empty": title}


@pytest.mark.parametrize("slots", [{"A1": 16, "A2": 0, "B1": 16, "B2": 0}, {"slot one": 16, "slot two": 0}])
def test_half_of_the_slots_may_be_all_channels(slots: dict[str, int]) -> None:
    assert said(**slots) == {}


def test_every_rule_has_a_row() -> None:
    assert {name for name in RULES if name.startswith("dmi/")} == {"dmi/memory_channels_empty"}
