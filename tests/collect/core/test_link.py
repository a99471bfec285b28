"""A connection that is kept up, with a driver of three lines."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from doctord.collect.core import link as core
from doctord.collect.core.link import Away, Link, Trouble
from doctord.collect.core.notices import Notices
from doctord.errors import UserError

KINDS = {"full": {"refused": True}, "away": {"gone": True}}


class Toy:
    """A server that answers numbers; `error` is what it does instead."""

    db = "toy:1"
    errors = (ValueError,)
    error: Exception | None = None

    def connect(self) -> "Toy":
        return self.ask(lambda: self)

    def close(self) -> None:
        """It has no connection."""

    def ask(self, answer: Callable[[], Any]) -> Any:
        if self.error:
            raise self.error
        return answer()

    def trouble(self, error: Exception) -> Trouble:
        return Trouble(
            f"it is {error}",
            "fix it",
            lost=str(error) != "busy",
            silent=str(error) == "mute",
            **KINDS.get(str(error), {}),
        )


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    monkeypatch.setattr(core, "_RETRY_S", (0.0,))
    return Toy()


def events(notices: Notices) -> list[tuple[str, str, str | None]]:
    rows = [row for batch in notices.batches() for row in pa.record_batch(batch).to_pylist()]
    return [(row["kind"], row["text"], row["hint"]) for row in rows]


def test_it_breaks_and_comes_back(toy: Toy) -> None:
    link = Link(toy, Notices())
    assert link.open()
    assert link.ask(lambda server: server.ask(lambda: 3)) == 3
    assert not link.open()
    toy.error = ValueError("mute")
    for asked in (lambda: link.ask(lambda server: server.ask(lambda: 3)), link.open, link.open):
        with pytest.raises(Away):
            asked()
    toy.error = None
    assert link.open()
    silent = ("no answer", "it is mute", None)
    assert events(link.notices) == [
        silent,
        ("gap", "the connection broke: it is mute", None),
        silent,
        ("not measured", "it is mute", "fix it"),
        silent,
        ("gap", "the server answers again after 0 s", None),
    ]


def test_a_refused_question_leaves_the_connection(toy: Toy) -> None:
    link = Link(toy, Notices())
    link.open()
    toy.error = ValueError("busy")
    with pytest.raises(UserError, match="it is busy") as refused:
        link.ask(lambda server: server.ask(lambda: 3))
    assert refused.value.hint == "fix it"
    assert not link.open()
    assert events(link.notices) == []


def test_a_server_that_started_again_had_no_mere_gap(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Link, "restarted", lambda _: ("restart", "it started again"))
    link = Link(toy, Notices())
    link.open()
    assert events(link.notices) == [("restart", "it started again", None)]


def test_nothing_is_asked_before_it_is_open(toy: Toy) -> None:
    with pytest.raises(Away):
        Link(toy, Notices()).ask(lambda _: 3)


def test_who_lets_nobody_in_is_told_how_long(toy: Toy) -> None:
    link = Link(toy, Notices())
    toy.error = ValueError("full")
    for _ in range(2):
        with pytest.raises(Away):
            link.open()
    assert events(link.notices) == [
        ("refused", "it is full", None),
        ("not measured", "it is full", "fix it"),
        ("refused", "it is full", None),
    ]


def test_where_nobody_ever_listened_is_a_wrong_address(toy: Toy) -> None:
    link = Link(toy, Notices())
    toy.error = ValueError("away")
    with pytest.raises(Away):
        link.open()
    assert [kind for kind, *_ in events(link.notices)] == ["not measured"]
    toy.error = None
    link.open()
    toy.error = ValueError("away")
    with pytest.raises(Away):
        link.ask(lambda server: server.ask(lambda: 3))
    with pytest.raises(Away):
        link.open()
    assert [kind for kind, *_ in events(link.notices)].count("refused") == 2
