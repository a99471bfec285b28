"""Figures as data."""

import pytest

from doctord.dataset.figure import own_figures, parsed
from doctord.errors import UserError

GOOD = """
[[figure]]
name = "reads"
title = "reads"
component = "storage"
table = "disk"
each = ["device"]
value = "reads_per_s"
unit = "per_s"
"""


def test_a_figure_says_what_it_is() -> None:
    (figure,) = parsed(GOOD, "my.toml")
    assert (figure.each, figure.sum, figure.worse, figure.weight) == (("device",), "mean", "high", "interval_s")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "reads"', 'name = "reads', "no TOML"),
        ('title = "reads"\n', "", "figure 'reads': without 'title'"),
        ('unit = "per_s"', 'unit = "per_s"\ncolour = "red"', "there is no key 'colour'"),
        ('"storage"', '"shelf"', "component is 'shelf'"),
        ('"disk"', '"dsik"', "table is 'dsik'"),
        ('["device"]', '["devise"]', "disk has no column 'devise'"),
        ('"reads_per_s"', '"raeds_per_s"', "disk has no column 'raeds_per_s'"),
        ('"reads_per_s"', '"reads_per_s +"', "value is no SQL expression"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    with pytest.raises(UserError) as refusal:
        parsed(GOOD.replace(old, new), "my.toml")
    assert message in str(refusal.value)
    assert "my.toml" in str(refusal.value)


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(UserError, match="two of that name"):
        parsed(GOOD * 2, "my.toml")


def test_figures_that_are_kept_are_sound() -> None:
    assert {figure.component for figure in own_figures()} >= {"cpu", "redo", "space", "waits", "workload"}
