"""Random damage, some of it in each run; `benchmarks/lake/lake_damage.py` does thousands."""

from pathlib import Path

import pytest

from damages import Outcome, damaged, make
from doctord.lake.place import LakePaths
from doctord.lake.verify import verify

pytestmark = pytest.mark.slow

DAMAGES = 60


def test_no_damage_gives_other_rows_or_an_error(path: Path) -> None:
    written, outcome = make(path), Outcome()
    for seed in range(DAMAGES):
        damaged(path, written, seed, outcome)
    assert (outcome.silent, outcome.raised) == ([], [])
    assert outcome.damages > DAMAGES / 2
    assert outcome.named > DAMAGES / 2


def test_a_lake_as_it_was_written_is_sound(path: Path) -> None:
    make(path)
    verified = verify(LakePaths(path))
    assert verified.flaws == []
    assert verified.files == 13
