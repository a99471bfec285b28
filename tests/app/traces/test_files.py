"""Which files are one trace, and which are two to be compared."""

from pathlib import Path

import pytest

from doctord.app.traces.files import traces
from doctord.errors import UserError

CALL = '{pid} 1700000000.{at:06d} stat("/etc/motd", 0x7ffd01) = 0 <0.000200>\n'


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    held = [tmp_path / "before.strace", tmp_path / "after.strace"]
    for number, (file, calls) in enumerate(zip(held, (20, 30), strict=True)):
        file.write_text("".join(CALL.format(pid=100 + number, at=at * 1000) for at in range(calls)))
    return held


def test_two_traces_are_compared_the_earlier_one_first(logs: list[Path]) -> None:
    before, trace = traces(logs)
    assert before
    assert (before["trace"]["calls"], trace["trace"]["calls"]) == (20, 30)


@pytest.mark.parametrize("together", [False, True])
def test_one_trace_has_none_before(logs: list[Path], *, together: bool) -> None:
    before, trace = traces(logs if together else logs[:1], together=together)
    assert (before, trace["trace"]["calls"]) == (None, 50 if together else 20)


def test_processes_of_one_name_are_one_trace(logs: list[Path]) -> None:
    parts = [logs[0].rename(logs[0].with_name("a.100")), logs[1].rename(logs[1].with_name("a.101"))]
    before, trace = traces(parts)
    assert (before, trace["trace"]["calls"]) == (None, 50)


def test_a_pipe_is_read_once() -> None:
    with pytest.raises(UserError, match="only once"):
        traces([Path("-"), Path("-")])
