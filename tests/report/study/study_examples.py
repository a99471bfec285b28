"""Studies to be shown: a server that spends less a commit, and a table of runs of which a step got slower."""

import numpy as np

from doctord.analyse.study.runs import runs
from doctord.analyse.study.verdict import Period
from doctord.app.study.files import Table, Told
from doctord.app.study.question import target
from doctord.app.study.study import Question, Study, of_told
from doctord.dataset.dataset import Dataset
from study_series import latencies, of_a_server

ROWS = 300


def better(question: Question | None = None) -> Study:
    """Commits cost a quarter less."""
    rng = np.random.default_rng(1)
    before = of_a_server(latencies(rng, ROWS, 0.3, 0.02), np.full(ROWS, 100.0))
    after = of_a_server(latencies(rng, ROWS, 0.3, 0.015), np.full(ROWS, 100.0), begin_s=3600)
    asked = question or Question(targets=[target("commit_ms < 18")], text="Does it help?", change="log_buffer")
    return of_told(Told((Period("before", before), Period("after", after))), asked)


def of_runs() -> Study:
    """The total is shorter, and step R is longer."""
    took = [("old", None, 7000.0), ("old", "R", 4000.0), ("new", None, 6000.0), ("new", "R", 4100.0)]
    rows = [{"run": run, "step": step, "duration_s": seconds} for run, step, seconds in took]
    return of_told(Told(None, [Table("workflow.csv", runs(Dataset.from_rows(timing=rows)))]), Question())
