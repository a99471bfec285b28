from doctord.report.study.terminal import render
from report.study.study_examples import better, of_runs


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
