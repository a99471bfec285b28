from doctord.analyse.sizing.page_tables import page_tables
from sizes import GIB, MIB, given, step


def test_sessions_times_mapped_over_page_times_8() -> None:
    sizing = page_tables(
        sessions=given(100),
        shared=given(4 * GIB, "bytes"),
        page=given(4096, "bytes"),
        total=given(16 * GIB, "bytes"),
        measured=given(400 * MIB, "bytes"),
    )
    assert step(sizing, "page tables of a session").value == 8 * MIB
    assert step(sizing, "of all sessions").value == 800 * MIB
    assert step(sizing, "with huge pages of 2 MiB").value == 100 * 2048 * 8
    assert step(sizing, "of the memory").value == 800 / (16 * 1024)
    assert step(sizing, "of all processes now, of that").value == 0.5


def test_the_casebook_s_half_a_gigabyte_and_more() -> None:
    half = page_tables(sessions=given(64), shared=given(4 * GIB, "bytes"), page=given(4096, "bytes"))
    assert step(half, "of all sessions").value == 0.5 * GIB
