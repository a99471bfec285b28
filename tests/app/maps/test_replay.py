"""A recorded map that is shown as it grew."""

import pytest

from doctord.app.maps.replay import Replay
from doctord.errors import UserError
from maps import bimodal_with_bursts, map_of

DRAWN = map_of(30, bimodal_with_bursts)


def test_columns_come_when_they_are_due(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr("doctord.app.maps.replay.time.monotonic", lambda: now_s)
    replay = Replay(DRAWN, 10)
    assert replay.grown()  # the first is there at once
    assert not replay.grown()
    now_s = 100.55
    assert replay.grown()
    [(shown, whole)] = replay.maps()
    assert len(shown.columns) == 6
    assert whole == DRAWN.whole
    now_s = 1000.0
    assert replay.grown()
    assert len(replay.maps()[0][0].columns) == 30
    assert not replay.is_over()


@pytest.mark.parametrize("speed", [0, -1])
def test_there_is_no_such_speed(speed: float) -> None:
    with pytest.raises(UserError, match="is no speed"):
        Replay(DRAWN, speed)
