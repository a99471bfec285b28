import pytest

from doctord.analyse.sizing.listener import listener
from doctord.analyse.sizing.question import Sizing
from doctord.analyse.sizing.working import Quantity
from sizes import given, step


def sized(**more: Quantity) -> Sizing:
    return listener(pass_time=given(0.30, "s"), limit=given(0.5, "share"), **more)


def test_the_casebook_s_3_connections_a_second() -> None:
    sizing = sized()
    assert step(sizing, "connections at most").value == pytest.approx(3.33, abs=0.005)
    assert sizing.fits is None


def test_what_waits() -> None:
    sizing = sized(rate=given(2, "per_s"))
    assert step(sizing, "how busy it is").value == pytest.approx(0.6)
    assert step(sizing, "wait, passes all alike").value == pytest.approx(0.225)
    assert step(sizing, "wait, passes at random").value == pytest.approx(0.45)
    assert step(sizing, "waiting on average").value == pytest.approx(0.9)
    assert step(sizing, "backlog wanted").value == 14
    assert step(sizing, "servers wanted").value == 2
    assert sizing.fits is False


def test_more_than_can_be_accepted() -> None:
    sizing = sized(rate=given(4, "per_s"))
    assert "the backlog fills" in sizing.cautions[0]
    assert "wait, passes at random" not in [one.name for one in sizing.steps]
    assert sizing.settings == ()


@pytest.mark.parametrize(("backlog", "fits"), [(128, False), (200, True)])
def test_a_burst_needs_a_backlog(backlog: float, *, fits: bool) -> None:
    sizing = sized(rate=given(1, "per_s"), burst=given(200), backlog=given(backlog))
    assert step(sizing, "the last of a burst waits").value == pytest.approx(60)
    assert sizing.settings[0].value == "200"
    assert sizing.fits is fits
