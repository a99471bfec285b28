import pytest

from doctord.analyse.sizing.redo import INPUTS, redo
from doctord.analyse.sizing.working import Assumed
from sizes import given, step

EVERY = given(1200, "s", "switch interval wanted")
FOR = next(Assumed(one.name, one.assumed or 0, one.unit, one.because) for one in INPUTS if one.option == "buffer-for")


def test_the_casebook_before() -> None:
    sizing = redo(rate=given(9.45e6, "bytes_per_s"), size=given(500e6, "bytes"), switch_every=EVERY, buffer_for=FOR)
    assert step(sizing, "switch interval").value == pytest.approx(52.91, abs=0.005)
    assert step(sizing, "size of a log").value == pytest.approx(11.34e9)
    assert sizing.fits is False
    assert [one.name for one in sizing.assumed] == ["groups", "time buffered"]


def test_the_casebook_s_log_buffer_to_the_digit() -> None:
    sizing = redo(rate=given(14e6, "bytes_per_s"), switch_every=EVERY, buffer_for=FOR)
    assert step(sizing, "log buffer").value == pytest.approx(72e6, rel=1e-12)
    assert sizing.fits is None


def test_the_casebook_after() -> None:
    sizing = redo(
        rate=given(8e9 / 420, "bytes_per_s"),
        size=given(8e9, "bytes"),
        archive_time=given(120, "s"),
        switch_every=given(420, "s"),
        buffer_for=FOR,
    )
    assert step(sizing, "switch interval").value == pytest.approx(420)
    assert step(sizing, "archive time of that").value == pytest.approx(2 / 7)
    assert step(sizing, "time to archive one").value == pytest.approx(120)
    assert step(sizing, "groups wanted").value == 4
    assert sizing.fits is True


def test_an_archiver_that_is_too_slow_is_said() -> None:
    sizing = redo(
        rate=given(20e6, "bytes_per_s"), archive_rate=given(5e6, "bytes_per_s"), switch_every=EVERY, buffer_for=FOR
    )
    assert step(sizing, "groups wanted").value == 6
    assert sizing.fits is False
    assert "falls behind" in sizing.cautions[0]
