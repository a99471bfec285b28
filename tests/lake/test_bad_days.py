"""Some days in shortened time on a bad disk; `benchmarks/lake/lake_bad_hours.py --days` goes on for longer."""

import os
import shutil
from pathlib import Path

import pytest

from bad_days import Days
from bad_hours import side_by_side

pytestmark = pytest.mark.slow

SEEDS = (int(os.environ.get("DOCTORD_SEED", "1")), 2)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, to make a disk slow and full")
def test_sums_know_every_row_once_when_the_rows_are_gone(tmp_path: Path) -> None:
    outcomes = side_by_side(tmp_path, SEEDS, lambda folder, seed: Days(folder, seed).sums(20))
    assert [outcome.wrong for outcome in outcomes] == [[]] * len(SEEDS)
    assert sum(outcome.rows_deleted for outcome in outcomes) > 0
    assert sum(outcome.hours - outcome.hours_with_a_kill_or_gap for outcome in outcomes) > 0
