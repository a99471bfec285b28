import pytest

from doctord.analyse.sizing.huge_pages import huge_pages
from doctord.analyse.sizing.question import Sizing
from doctord.analyse.sizing.working import Quantity
from doctord.errors import UserError
from sizes import GIB, MIB, given, step


def sized(segments: float = 1, **more: Quantity) -> Sizing:
    return huge_pages(
        segments=given(segments, name="shared segments"),
        page=given(2 * MIB, "bytes", "huge page"),
        besides=given(0.03, "share"),
        besides_fixed=given(64 * MIB, "bytes"),
        **more,
    )


def test_pages_and_memlock() -> None:
    sizing = sized(shared=given(12 * GIB, "bytes"))
    assert {one.name: one.value for one in sizing.settings} == {"vm.nr_hugepages": "6144", "memlock": "12582912"}
    assert sizing.fits is None


def test_each_segment_begins_a_page() -> None:
    sizing = sized(shared=given(12 * GIB + 1, "bytes"), segments=3)
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
    sizing = sized(shared=given(12 * GIB, "bytes"), **held)
    assert sizing.fits is fits
    assert said in " ".join(sizing.cautions)


def test_decimal_units_are_noticed() -> None:
    sizing = sized(shared=given(12e9, "bytes"))
    assert "no whole number of MiB" in sizing.cautions[-1]


@pytest.mark.parametrize(
    ("buffers", "takes"), [(128 * MIB, 184 * MIB), (GIB, 1115 * MIB), (8 * GIB, 8441 * MIB), (64 * GIB, 67_045 * MIB)]
)
def test_shared_buffers_is_not_all_shared_memory(buffers: float, takes: float) -> None:
    """`takes` is what PostgreSQL 15 says with 1,000 connections (postgres -C shared_memory_size)."""
    sizing = sized(shared_buffers=given(buffers, "bytes"))
    assert takes <= step(sizing, "pool").value <= takes * 1.12


def test_without_shared_memory_there_is_no_answer() -> None:
    with pytest.raises(UserError, match="lacks: shared memory"):
        sized()
