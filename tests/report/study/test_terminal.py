import numpy as np

from doctord.analyse.latency.difference import Part, difference
from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.study.spreads import Spread
from doctord.analyse.study.verdict import Period
from doctord.app.study.files import Told
from doctord.app.study.study import Question, of_told
from doctord.report.study import words
from doctord.report.study.document import document
from doctord.report.study.terminal import render
from report.study.study_examples import ROWS, better, of_runs
from study_series import latencies, of_a_server


def test_the_verdict_comes_first_then_noise_time_and_targets() -> None:
    said = render(better(), 80, colour=False)
    lines = said.splitlines()
    assert lines[:2] == ["Does it help?", "Changed: log_buffer"]
    assert lines[2].startswith("Better: database time a commit 19.8 ms to 15.8 ms")
    assert "The noise of this server is" in said
    assert "DATABASE TIME A COMMIT" in said
    assert "met           commit_ms < 18 ms" in said
    assert max(map(len, lines)) <= 80


def test_runs_are_told_pair_by_pair_with_what_got_slower() -> None:
    said = render(of_runs(), 80, colour=False)
    assert said.startswith("workflow.csv: Better: total 117 min to 100 min (-14 %, 1.17 times less)")
    assert "67 min  68.3 min  +2.5 %  1  R" in " ".join(said.split("\n")).replace("66.7", "67")


def test_a_narrow_terminal_is_kept_to() -> None:
    assert max(map(len, render(better(), 50, colour=False).splitlines())) <= 50


def test_a_moment_of_its_own_is_said_beside_the_change() -> None:
    rng = np.random.default_rng(2)
    cost = latencies(rng, ROWS, 0.3, 0.02)
    cost[200:] *= 0.7
    before = of_a_server(cost, np.full(ROWS, 100.0))
    after = of_a_server(latencies(rng, ROWS, 0.3, 0.014), np.full(ROWS, 100.0), begin_s=3600)
    found = of_told(Told((Period("before", before), Period("after", after))), Question())
    text = " ".join(render(found, 80, colour=False).split())
    assert "Within the period before, it changed at 2026-11-20 10:03:" in text
    assert "before its end. At the change itself (2026-11-20 10:05:00 to 2026-11-20 11:00:00 UTC) no difference" in text
    (told,) = document(found)["parts"][0]["comparisons"]
    assert told["change_points"]["is_elsewhere"]
    assert told["change_points"]["before"][0]["at"].startswith("2026-11-20T10:03:")


def test_quantiles_and_histograms_are_told() -> None:
    found = better()
    text = render(found, 80, colour=False)
    assert "HOW IT IS SPREAD" in text
    assert [one["share"] for one in document(found)["parts"][0]["comparisons"][0]["quantiles"]][2] == 0.5


def test_the_same_shape_twice_as_often_is_no_pressure() -> None:
    told = [Part(10.0, count, 0.0, Histogram.of([Bucket(0.0, 100.0, count)])) for count in (1000, 2000)]
    alike = Spread("vda read", difference(*told))
    assert words.histogram(alike) == (
        "vda read: same shape (0 % lie elsewhere), 2 times as many a second: what serves them is not under pressure"
    )
    slower = Part(10.0, 1000, 0.0, Histogram.of([Bucket(100.0, 300.0, 1000)]))
    assert words.histogram(Spread("vda read", difference(told[0], slower))) == (
        "vda read: another shape (100 % lie elsewhere), median 50 us to 200 us, 1 times as many a second"
    )
