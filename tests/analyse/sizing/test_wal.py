import pytest

from doctord.analyse.sizing.question import Sizing
from doctord.analyse.sizing.wal import wal
from doctord.analyse.sizing.working import Quantity
from sizes import GIB, MIB, given, step


def sized(rate: float, **more: Quantity) -> Sizing:
    return wal(
        rate=given(rate, "bytes_per_s"),
        timeout=given(300, "s"),
        completion=given(0.9, "share"),
        flush_every=given(0.2, "s"),
        **more,
    )


def test_max_wal_size_lets_checkpoints_come_by_time() -> None:
    sizing = sized(12 * MIB)
    assert step(sizing, "max_wal_size wanted").value == pytest.approx(12 * 300 * 1.9 * MIB)
    assert {one.name: one.value for one in sizing.settings} == {"max_wal_size": "6840MB", "wal_buffers": "16MB"}
    assert sizing.fits is None


def test_what_is_there_now_is_held_against_it() -> None:
    small = sized(12 * MIB, max_wal_size=given(GIB, "bytes"))
    assert step(small, "a checkpoint now every").value == pytest.approx(1024 / 1.9 / 12)
    assert small.fits is False
    assert "requested" in small.cautions[0]
    assert sized(12 * MIB, max_wal_size=given(7 * GIB, "bytes")).fits is True


def test_recovery_replays_all_of_it() -> None:
    sizing = sized(12 * MIB, replay_rate=given(10 * MIB, "bytes_per_s"))
    assert step(sizing, "recovery, at the longest").value == pytest.approx(684)
    assert "shorter checkpoint_timeout" in sizing.cautions[0]


def test_buffers_hold_what_gathers_between_flushes() -> None:
    assert step(sized(200 * MIB), "WAL buffers").value == pytest.approx(40 * MIB)
