"""Places in the kernel where sessions stand."""

import pytest

from doctord.dataset.waits.advice import advice
from doctord.dataset.waits.kernel import OFF_CPU, place, places, wait_at
from doctord.dataset.waits.kinds import KINDS


@pytest.mark.parametrize("one", places(), ids=lambda one: one.function)
def test_every_place_is_explained(one: object) -> None:
    (line,) = (each for each in places() if each is one)
    assert line.wait_kind in KINDS
    assert line.meaning
    assert not line.meaning.endswith(".")
    assert line.usually.endswith(".")
    assert line.collect.endswith(".")
    assert line.source or line.function == OFF_CPU


def test_no_place_is_told_twice() -> None:
    names = [one.function for one in places()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("function", "to_the_log", "event", "kind"),
    [
        ("anon_pipe_write", True, "anon_pipe_write: stderr", "server log"),
        ("pipe_write", False, "pipe_write", "other"),
        ("rwsem_down_write_slowpath", True, "rwsem_down_write_slowpath: stderr", "server log"),
        ("jbd2_log_wait_commit", False, "jbd2_log_wait_commit", "file operation"),
        ("folio_wait_bit_common.isra.0", False, "folio_wait_bit_common", "file operation"),
        ("do_poll.constprop.0", False, "do_poll", "network to server"),
        ("of_tomorrow", False, "of_tomorrow", "other"),
    ],
)
def test_what_a_session_waits_for_there(function: str, event: str, kind: str, *, to_the_log: bool) -> None:
    found = wait_at(function, to_the_log=to_the_log)
    assert (found.event, found.wait_kind) == (event, kind)


def test_the_advice_is_that_of_the_place() -> None:
    told = advice("anon_pipe_write: stderr", "server log", "postgresql")
    assert told.is_own
    assert "log_statement" in told.collect
    assert place("SyncRep") is None
