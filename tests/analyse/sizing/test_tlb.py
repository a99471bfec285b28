import pytest

from doctord.analyse.sizing.tlb import tlb
from sizes import GIB, MIB, given, step


@pytest.mark.parametrize(
    ("memory", "page", "entries", "tsb"),
    [
        (16 * GIB, 8192, 2_097_152, 32 * MIB),
        (16 * GIB, 4096, 4_194_304, 64 * MIB),
        (12 * GIB, 4 * MIB, 3072, 48 * 1024),
        (700 * MIB, 4 * MIB, 175, 2800),
        (2100 * MIB, 4 * MIB, 525, 8400),
    ],
)
def test_the_casebook_s_arithmetic_to_the_digit(memory: float, page: float, entries: float, tsb: float) -> None:
    sizing = tlb(memory=given(memory, "bytes"), page=given(page, "bytes"))
    assert step(sizing, "entries").value == entries
    assert step(sizing, "TSB for all of them").value == tsb
    assert step(sizing, "entries of the default TSB").value == 512


@pytest.mark.parametrize(("entries", "code"), [(512, 0), (513, 1), (3072, 3), (65_536, 7)])
def test_the_code_of_solaris(entries: int, code: int) -> None:
    sizing = tlb(memory=given(entries * 8192.0, "bytes"), page=given(8192, "bytes"))
    assert {one.name: one.value for one in sizing.settings} == {
        "default_tsb_size": str(code),
        "enable_tsb_rss_sizing": "1",
        "tsb_rss_factor": "384",
    }


@pytest.mark.parametrize(
    ("processes", "factor", "note"), [(100, "32", "the default"), (20_000, "13", "leaves them less")]
)
def test_all_tsbs_together_are_held_below_a_part_of_memory(processes: float, factor: str, note: str) -> None:
    sizing = tlb(
        memory=given(12 * GIB, "bytes"),
        page=given(4 * MIB, "bytes"),
        processes=given(processes),
        host_memory=given(16 * GIB, "bytes"),
    )
    assert step(sizing, "TSBs of all processes").value == processes * 64 * 1024
    high_water = sizing.settings[-1]
    assert (high_water.name, high_water.value) == ("tsb_alloc_hiwater_factor", factor)
    assert note in high_water.note


def test_more_tsbs_than_the_host_has_memory_for() -> None:
    sizing = tlb(
        memory=given(12 * GIB, "bytes"),
        page=given(4 * MIB, "bytes"),
        processes=given(20_000),
        host_memory=given(1 * GIB, "bytes"),
    )
    assert "tsb_alloc_hiwater_factor" not in {one.name for one in sizing.settings}
    assert "do not fit" in " ".join(sizing.cautions)


def test_no_tsb_is_large_enough() -> None:
    sizing = tlb(memory=given(16 * GIB, "bytes"), page=given(8192, "bytes"))
    assert sizing.settings == ()
    assert "larger pages" in sizing.cautions[0]


def test_reach_and_faults() -> None:
    sizing = tlb(
        memory=given(12 * GIB, "bytes"),
        page=given(4 * MIB, "bytes"),
        private=given(700 * MIB, "bytes"),
        tlb_entries=given(512),
        minor_faults=given(2_377_024_933),
        major_faults=given(16_504_390),
        translating=given(0.22, "share"),
    )
    assert step(sizing, "entries together").value == 3072 + 175
    assert step(sizing, "the TLB reaches").value == 2 * GIB
    assert round(step(sizing, "major over minor faults").value * 100, 2) == 0.69
    assert sizing.fits is False
    assert "above the 0.5 %" in " ".join(sizing.cautions)
    assert "revisit the page sizes" in " ".join(sizing.cautions)
