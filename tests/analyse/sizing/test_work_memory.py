import pytest

from doctord.analyse.sizing.question import Curve, Sizing
from doctord.analyse.sizing.work_memory import work_memory
from doctord.analyse.sizing.working import Quantity
from sizes import GIB, MIB, given, step


def sized(shared: float = 16 * GIB, advice: Curve | None = None, **more: Quantity) -> Sizing:
    return work_memory(
        total=given(64 * GIB, "bytes"),
        shared=given(shared, "bytes"),
        sessions=given(320),
        sorting=given(40),
        operations=given(2),
        hash_multiplier=given(2),
        session=given(10 * MIB, "bytes"),
        system=given(0.25, "share"),
        advice=advice,
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


@pytest.mark.parametrize(
    ("spilled", "size", "share"), [((90, 21, 20), 16, 1.05), ((90, 0, 0), 16, None), ((90, 80, 20), 64, 1)]
)
def test_the_advice_of_oracle(spilled: tuple[float, ...], size: float, share: float | None) -> None:
    points = tuple((at * GIB, 1e9 * bytes_) for at, bytes_ in zip((8, 16, 64), spilled, strict=True))
    sizing = sized(advice=Curve("spilled by PGA", points, "--advice"))
    assert f"from {size} GiB on" in sizing.cautions[0]
    assert [one.value for one in sizing.steps if one.name == "spilled, of the least"] == ([share] if share else [])
    assert sizing.fits is (size < 32)
