import pytest

from doctord.analyse.sizing.question import Sizing
from doctord.analyse.sizing.work_memory import work_memory
from doctord.analyse.sizing.working import Quantity
from sizes import GIB, MIB, given, step


def sized(shared: float = 16 * GIB, **more: Quantity) -> Sizing:
    return work_memory(
        total=given(64 * GIB, "bytes"),
        shared=given(shared, "bytes"),
        sessions=given(320),
        sorting=given(40),
        operations=given(2),
        hash_multiplier=given(2),
        session=given(10 * MIB, "bytes"),
        system=given(0.25, "share"),
        **more,
    )


def test_what_is_left_is_divided() -> None:
    sizing = sized()
    assert step(sizing, "left for work areas").value == pytest.approx(64 * GIB - 16 * GIB - 16 * GIB - 3200 * MIB)
    assert step(sizing, "for each").value == pytest.approx((32 * 1024 - 3200) / 160 * MIB)
    assert {one.name for one in sizing.settings} == {"work_mem", "pga_aggregate_target"}


@pytest.mark.parametrize(("work_mem", "fits"), [(64 * MIB, True), (GIB, False)])
def test_work_mem_now(work_mem: float, *, fits: bool) -> None:
    assert sized(work_mem=given(work_mem, "bytes")).fits is fits


def test_nothing_is_left() -> None:
    sizing = sized(shared=47 * GIB)
    assert sizing.answer.startswith("Nothing is left")
    assert sizing.fits is False
    assert sizing.settings == ()
