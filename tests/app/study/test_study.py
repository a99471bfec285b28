from pathlib import Path

import numpy as np
import pytest

from doctord.analyse.study.verdict import Period
from doctord.app.source import Recorded
from doctord.app.study.files import Told
from doctord.app.study.question import target
from doctord.app.study.study import Question, Study, of_lake, of_paths, of_told
from doctord.errors import UserError
from doctord.lake.imports import keep
from doctord.read.source import ReadOptions
from study_series import latencies, of_a_server

ROWS = 300


def server(seed: int, cost_s: float = 0.02, begin_s: float = 0.0):  # noqa: ANN201
    rng = np.random.default_rng(seed)
    return of_a_server(latencies(rng, ROWS, 0.3, cost_s), np.full(ROWS, 100.0), begin_s)


def study(question: Question, cost_s: float = 0.015) -> Study:
    return of_told(Told((Period("before", server(1)), Period("after", server(2, cost_s, 3600)))), question)


def test_better_is_healthy_and_a_missed_target_is_not() -> None:
    assert study(Question()).healthy is True
    assert study(Question(targets=[target("commit_ms < 20")])).healthy is True
    assert study(Question(targets=[target("commit_ms < 2")])).healthy is False


def test_a_regression_counts_until_it_is_accepted() -> None:
    found = study(Question(), cost_s=0.03)
    assert (found.verdict, [row.key.name for row in found.regressions]) == ("worse", ["WALSync"])
    assert study(Question(accepted=["walsync"]), cost_s=0.03).regressions == []


def test_a_target_of_no_figure_is_refused() -> None:
    with pytest.raises(UserError, match="no figure for the target"):
        study(Question(targets=[target("no such thing < 1")]))


def test_two_times_of_a_lake_are_compared(tmp_path: Path) -> None:
    for dataset in (server(1), server(2, 0.015, 3600)):
        keep(tmp_path / "lake", {name: dataset.arrow(name) for name in dataset.tables})
    lake, before = Recorded(tmp_path / "lake"), "2026-11-20T10:00Z..2026-11-20T10:10Z"
    found = of_lake(lake, before, "2026-11-20T11:00Z..2026-11-20T11:10Z", Question())
    assert (found.verdict, found.parts[0].last.unit) == ("better", "commit")
    with pytest.raises(UserError, match="overlap"):
        of_lake(lake, before, "2026-11-20T10:04Z..2026-11-20T11:10Z", Question())
    with pytest.raises(UserError, match="nothing was recorded"):
        of_lake(lake, before, "2026-11-21T11:00Z..2026-11-21T11:10Z", Question())


@pytest.mark.parametrize("count", [0, 3])
def test_one_or_two_places_are_asked_for(tmp_path: Path, count: int) -> None:
    with pytest.raises(UserError, match="no before and after"):
        of_paths([tmp_path] * count, ReadOptions(), Question())


def test_a_run_that_took_no_time_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("run,elapsed_s\na,0\nb,3\n")
    found = of_paths([tmp_path / "runs.csv"], ReadOptions(), Question())
    assert found.verdict == "not comparable"
    assert "nothing, or less" in found.parts[0].last.why
