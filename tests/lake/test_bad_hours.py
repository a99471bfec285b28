"""A minute of hours in shortened time on a bad disk; `benchmarks/lake/lake_bad_hours.py` goes on for longer."""

import os
import shutil
from pathlib import Path

import pytest

from bad_hours import Hours, side_by_side

pytestmark = pytest.mark.slow

SEEDS = (int(os.environ.get("DOCTORD_SEED", "1")), 2, 3)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, to make a disk slow and full")
def test_every_row_is_there_once_or_told_as_a_gap(tmp_path: Path) -> None:
    outcomes = side_by_side(tmp_path, SEEDS, lambda folder, seed: Hours(folder, seed).run(20))
    assert [(outcome.lost, outcome.doubled) for outcome in outcomes] == [([], [])] * len(SEEDS)
    assert all(outcome.crossings > 5 for outcome in outcomes)
    assert sum(outcome.in_lake for outcome in outcomes) > 1000
