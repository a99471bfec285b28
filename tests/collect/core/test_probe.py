"""The probe: rows of what logins take, and of what was given up."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from doctord.collect.core.probe import PERIOD_S, Part, Probe


class Told:
    def __init__(self, *parts: Part) -> None:
        self._parts = parts

    def parts(self, deadline: float) -> Iterator[Part]:  # noqa: ARG002 - of the protocol
        yield from self._parts


def test_each_part_is_a_bucket_of_one() -> None:
    told = Told(Part("login local: first answer", 0.003), Part("login local: first query", 0.0))
    [batch] = Probe("postgresql:1", [told]).sample()
    answer, query = pa.record_batch(batch).to_pylist()
    assert (answer["subject"], answer["db"]) == ("login local: first answer", "postgresql:1")
    assert (answer["gt_us"], answer["le_us"], answer["count"]) == (2048.0, 4096.0, 1)
    assert answer["waited_us"] == pytest.approx(3000.0)
    assert answer["interval_s"] == PERIOD_S
    assert (query["gt_us"], query["waited_us"]) == (1.0, 1.0)
    assert answer["ts"] == query["ts"]


def test_what_was_given_up_took_longer_than_that() -> None:
    [batch] = Probe("postgresql:1", [Told(Part("login local: authentication", 9.0, is_over=False))]).sample()
    [row] = pa.record_batch(batch).to_pylist()
    assert (row["gt_us"], row["le_us"]) == (9e6, None)


def test_a_server_that_is_not_there_gives_no_row() -> None:
    assert Probe("postgresql:1", [Told()]).sample() == []
