"""Up to when there is data, in each state of a lake."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord.app.over_time.newest import Newest
from doctord.dataset.rows import rows
from doctord.lake.writer import LakeWriter

START = datetime(2026, 11, 20, 10, tzinfo=UTC)


def test_it_grows_with_what_is_written_and_stays_when_it_is_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("doctord.app.over_time.newest.LOOKS_S", 0.0)
    lake, newest = tmp_path / "lake", Newest(tmp_path / "lake")
    assert newest.moment() is None
    with LakeWriter(lake) as writer:
        for second in range(3):
            moment = START + timedelta(seconds=second)
            told = {"ts": round(moment.timestamp() * 1e6), "interval_s": 1.0, "usr_pct": 5.0}
            writer.append(rows("cpu", [told]))
            writer.sync()
            assert newest.moment() == moment
    assert newest.moment() == START + timedelta(seconds=2)
    assert Newest(lake).moment() == START + timedelta(seconds=2)


def test_a_damaged_segment_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open/20261120T230000Z-1f2e3d4c.segment").write_bytes(b"nothing of ours")
    assert Newest(tmp_path).moment() is None
