import pytest

from doctord.analyse.sizing.question import Curve, Sizing
from doctord.analyse.sizing.queue_depth import queue_depth
from doctord.analyse.sizing.working import Quantity
from doctord.errors import UserError
from sizes import given, step

BENT = Curve("response by load", ((500, 0.002), (1000, 0.0024), (1500, 0.004), (1550, 0.009)), "--curve")


def sized(luns: float = 8, hosts: float = 1, curve: Curve | None = None, **more: Quantity) -> Sizing:
    return queue_depth(
        luns=given(luns), hosts=given(hosts), lun_limit=given(30), target_limit=given(256), curve=curve, **more
    )


LOAD = {"iops": given(1500, "per_s"), "response": given(0.008, "s")}


def test_little_s_law() -> None:
    sizing = sized(**LOAD)
    assert step(sizing, "requests outstanding").value == 12
    assert step(sizing, "depth for its swings").value == 19
    assert sizing.settings[0].value == "30"


def test_the_casebook_s_limits_30_per_lun_256_per_target() -> None:
    assert step(sized(**LOAD), "LUNs that may be full").value == 8
    assert step(sized(luns=9, **LOAD), "queue depth, at most").value == 28
    shared = sized(hosts=4, **LOAD)
    assert step(shared, "queue depth, at most").value == 8
    assert "waits in the host" in shared.cautions[0]


def test_a_measured_curve_bends_where_its_power_is_highest() -> None:
    sizing = sized(curve=BENT)
    assert step(sizing, "outstanding at 1,000/s").value == 2.4
    powers = {one.name: one.value for one in sizing.steps if one.name.startswith("power")}
    assert max(powers, key=lambda name: powers[name]) == "power at 1,000/s"
    assert sizing.settings[0].value == "6"


def test_a_curve_that_never_bends_says_so() -> None:
    straight = Curve("response by load", ((500, 0.002), (1000, 0.002)), "--curve")
    sizing = sized(curve=straight)
    assert "has not bent" in sizing.cautions[0]
    assert sizing.settings[0].value == "30"


@pytest.mark.parametrize(("depth", "fits"), [(8, False), (19, True), (30, True), (64, False)])
def test_the_depth_now(depth: float, *, fits: bool) -> None:
    assert sized(depth=given(depth), **LOAD).fits is fits


def test_without_a_load_there_is_no_answer() -> None:
    with pytest.raises(UserError, match="load is not known") as refusal:
        sized(iops=given(1500, "per_s"))
    assert "--curve" in refusal.value.hint
