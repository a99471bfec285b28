import pytest

from doctord.analyse.sizing.buffer_cache import buffer_cache
from doctord.analyse.sizing.question import Curve
from doctord.errors import UserError
from sizes import GIB, given, step

WORTH = given(0.1, "share")


def curve(*points: tuple[float, float]) -> Curve:
    return Curve("reads by size", tuple((size * GIB, reads) for size, reads in points), "--advice")


KNEE = curve((4, 900_000), (8, 400_000), (16, 390_000), (32, 385_000))


def test_the_last_size_that_is_worth_it() -> None:
    sizing = buffer_cache(advice=KNEE, worth=WORTH, size=given(4 * GIB, "bytes"), read=given(0.005, "s"))
    assert sizing.answer.startswith("8 GiB:")
    assert step(sizing, "4 GiB to 8 GiB saves").value == pytest.approx(5 / 9)
    assert step(sizing, "8 GiB to 16 GiB saves").value == pytest.approx(1 / 40)
    assert step(sizing, "time of these reads").value == pytest.approx(2500)
    assert sizing.fits is False


def test_no_more_than_there_is() -> None:
    sizing = buffer_cache(advice=curve((4, 900), (8, 400), (16, 100)), worth=WORTH, most=given(10 * GIB, "bytes"))
    assert sizing.answer.startswith("8 GiB or more")


def test_a_flat_curve_needs_no_more() -> None:
    sizing = buffer_cache(advice=curve((4, 900), (8, 890)), worth=WORTH, size=given(8 * GIB, "bytes"))
    assert sizing.answer.startswith("4 GiB:")
    assert sizing.fits is True
    assert "flat from its beginning" in " ".join(sizing.cautions)


@pytest.mark.parametrize("points", [((4, 900),), ((4, 0), (8, 0)), ()])
def test_a_curve_needs_two_points(points: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(UserError, match="two sizes"):
        buffer_cache(advice=curve(*points), worth=WORTH)
