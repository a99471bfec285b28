import sys

import pytest

from doctord.app.study.commands import of_commands, order, timed, words_of
from doctord.app.study.study import Question
from doctord.errors import UserError

QUICK = f"{sys.executable} -S -c 'pass'"
BUSY = f"{sys.executable} -S -c 'sum(range(20_000_000))'"


def test_pairs_change_their_order() -> None:
    assert list(order(3)) == ["a", "b", "b", "a", "a", "b"]


@pytest.mark.slow
def test_the_command_that_works_more_takes_more_cpu() -> None:
    study = of_commands((QUICK, BUSY), 3, 60.0, Question())
    cpu = next(row for row in study.parts[0].last.rows if row.key.name == "CPU time")
    assert cpu.before is not None
    assert cpu.after is not None
    assert cpu.before < cpu.after


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("/no/such/program", "cannot be started"),
        (f"{sys.executable} -S -c 'raise SystemExit(3)'", "ended with status 3"),
        (f"{sys.executable} -S -c 'import time; time.sleep(60)'", "took longer than"),
    ],
)
def test_a_run_that_is_none_is_refused(command: str, what: str) -> None:
    with pytest.raises(UserError, match=what):
        timed(words_of(command), 0.5 if "sleep" in command else 60.0)


@pytest.mark.parametrize("text", ["", "echo 'no end"])
def test_what_is_no_command_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="command"):
        words_of(text)


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(UserError, match="--pairs 2"):
        of_commands((QUICK, QUICK), 2, 60.0, Question())
