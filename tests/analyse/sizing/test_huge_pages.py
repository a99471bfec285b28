import pytest

from doctord.analyse.sizing.huge_pages import huge_pages
from doctord.analyse.sizing.working import Quantity
from sizes import GIB, MIB, given, step

ONE, PAGE = given(1, name="shared segments"), given(2 * MIB, "bytes", "huge page")


def test_pages_and_memlock() -> None:
    sizing = huge_pages(shared=given(12 * GIB, "bytes"), segments=ONE, page=PAGE)
    assert {one.name: one.value for one in sizing.settings} == {"vm.nr_hugepages": "6144", "memlock": "12582912"}
    assert sizing.fits is None


def test_each_segment_begins_a_page() -> None:
    sizing = huge_pages(shared=given(12 * GIB + 1, "bytes"), segments=given(3), page=PAGE)
    assert step(sizing, "pages").value == 6144 + 1 + 2


@pytest.mark.parametrize(
    ("held", "fits", "said"),
    [
        ({"have": given(6144)}, True, ""),
        ({"have": given(6143)}, False, "all in huge pages or none of it"),
        ({"have": given(0)}, False, "6,144 pages too few"),
        ({"memlock": given(11 * GIB, "bytes")}, False, "memlock is below the pool"),
        ({"total": given(14 * GIB, "bytes")}, False, "most of the memory"),
        ({"total": given(64 * GIB, "bytes")}, True, ""),
    ],
)
def test_all_of_it_or_nothing(held: dict[str, Quantity], said: str, *, fits: bool) -> None:
    sizing = huge_pages(shared=given(12 * GIB, "bytes"), segments=ONE, page=PAGE, **held)
    assert sizing.fits is fits
    assert said in " ".join(sizing.cautions)


def test_decimal_units_are_noticed() -> None:
    sizing = huge_pages(shared=given(12e9, "bytes"), segments=ONE, page=PAGE)
    assert "12GiB" in sizing.cautions[-1]
