"""A minute of hours in shortened time on a bad disk; `benchmarks/lake_bad_hours.py` goes on for longer."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bad_hours import Hours

pytestmark = pytest.mark.slow

SEEDS = (int(os.environ.get("DOCTORD_SEED", "1")), 2, 3)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, to make a disk slow and full")
def test_every_row_is_there_once_or_told_as_a_gap(tmp_path: Path) -> None:
    folders = [tmp_path / str(seed) for seed in SEEDS]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor() as threads:
        runs = [threads.submit(Hours(folder, seed).run, 20) for folder, seed in zip(folders, SEEDS, strict=True)]
    outcomes = [run.result() for run in runs]
    assert [(outcome.lost, outcome.doubled) for outcome in outcomes] == [([], [])] * len(SEEDS)
    assert all(outcome.crossings > 5 for outcome in outcomes)
    assert sum(outcome.in_lake for outcome in outcomes) > 1000
