import pytest

from doctord.analyse.sizing.pool import pool
from doctord.analyse.sizing.question import Sizing
from doctord.analyse.sizing.working import Quantity
from sizes import given, step


def sized(rate: float = 800, **more: Quantity) -> Sizing:
    return pool(
        rate=given(rate, "per_s"),
        held=given(0.012, "s"),
        cpu=given(0.004, "s"),
        cpus=given(8),
        limit=given(0.7, "share"),
        **more,
    )


def test_little_and_the_utilisation_law() -> None:
    sizing = sized()
    assert step(sizing, "connections busy on average").value == pytest.approx(9.6)
    assert step(sizing, "CPUs busy").value == pytest.approx(0.4)
    assert step(sizing, "requests at the limit").value == pytest.approx(1400)
    assert step(sizing, "more are of no use").value == 24
    assert sizing.settings[0].value == "16"
    assert step(sizing, "for comparison, 2 x CPUs + disks (one)").value == 17


def test_no_more_than_the_cpus_can_use() -> None:
    sizing = sized(rate=1900)
    assert sizing.settings[0].value == "24"
    assert sizing.fits is False
    assert "no pool helps" in sizing.cautions[0]


@pytest.mark.parametrize(("now", "fits"), [(10, False), (16, True), (24, True), (100, False)])
def test_the_pool_now(now: float, *, fits: bool) -> None:
    assert sized(pool=given(now)).fits is fits
