import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord.app.capacity.history import history
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import own_figures
from doctord.lake.imports import keep
from doctord.lake.query import Lake

pytestmark = pytest.mark.slow

DOCTORD = [Path(sys.executable).with_name("doctord"), "record"]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DOCTORD, *arguments], capture_output=True, text=True, timeout=180, check=False)


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [("--every", "soon", "no duration"), ("--sync", "0s", "no time to wait"), ("--max-size", "much", "no size")],
)
def test_a_value_that_makes_no_sense_is_refused_with_a_hint(option: str, value: str, complaint: str) -> None:
    result = run(option, value)
    assert result.returncode == 2
    assert complaint in result.stderr
    assert "hint:" in result.stderr


def test_the_unit_is_one_that_systemd_accepts(tmp_path: Path) -> None:
    unit = tmp_path / "doctord.service"
    unit.write_text(run("--print-unit").stdout.replace("/usr/local/bin/doctord", "/bin/true"))
    for line in unit.read_text().splitlines():
        assert not line or line[0] in "#[" or "=" in line
    assert "NoNewPrivileges=yes" in unit.read_text()
    try:
        verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("systemd-analyze is not installed")
    assert "Unknown" not in verified.stderr


def test_the_unit_is_no_more_exposed_than_it_was(tmp_path: Path) -> None:
    unit = tmp_path / "doctord.service"
    unit.write_text(run("--print-unit").stdout)
    analyse = ["systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=24", unit]
    try:
        judged = subprocess.run(analyse, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("systemd-analyze is not installed")
    if "unrecognized option" in judged.stderr:
        pytest.skip("this systemd-analyze is older than 250: it judges no file")
    assert "Overall exposure level" in judged.stdout, judged.stderr
    assert judged.returncode == 0, judged.stdout.splitlines()[-1]


@contextmanager
def recording(lake: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A recorder that has begun: its first sync is on disk. It ends with the block, whatever happens in it."""
    command = [*DOCTORD, "--lake", lake, "--no-databases", "--sync", "0.5s", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as recorder:
        try:
            deadline = time.monotonic() + 120
            while not any(segment.stat().st_size > 10_000 for segment in lake.glob("open/*")):
                assert recorder.poll() is None, recorder.communicate()
                assert time.monotonic() < deadline, "nothing was recorded within 120 s"
                time.sleep(0.05)
            yield recorder
        finally:
            recorder.kill()


def samples(lake: Path) -> int:
    with Lake(lake).connect(["process"]) as connection:
        row = connection.execute("SELECT count(DISTINCT ts) FROM process").fetchone()
    return row[0] if row else 0


def until_processes_are_recorded(recorder: subprocess.Popen[str], lake: Path) -> int:
    """The samples that hold processes by then: what has used no CPU between two looks has no row."""
    deadline = time.monotonic() + 120
    while not (recorded := samples(lake)):
        assert recorder.poll() is None, recorder.communicate()
        assert time.monotonic() < deadline, "no process was recorded within 120 s"
    return recorded


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_a_sealed_lake(tmp_path: Path, number: signal.Signals) -> None:
    with recording(tmp_path, "--every", "0.2s") as recorder:
        before = until_processes_are_recorded(recorder, tmp_path)
        recorder.send_signal(number)
        _, said = recorder.communicate(timeout=180)
    assert recorder.returncode == 0, said
    assert "Traceback" not in said
    assert list(tmp_path.glob("open/*")) == []
    assert samples(tmp_path) >= before > 0


def test_kill_9_keeps_what_was_synced(tmp_path: Path) -> None:
    with recording(tmp_path, "--every", "0.2s") as recorder:
        before = until_processes_are_recorded(recorder, tmp_path)
        recorder.kill()
    assert samples(tmp_path) >= before > 0


def test_it_stops_by_itself_and_its_process_is_small(tmp_path: Path) -> None:
    with recording(tmp_path, "--for", "3s") as recorder:
        status = Path(f"/proc/{recorder.pid}/status").read_text(encoding="ascii")
        assert recorder.wait(timeout=180) == 0
    high_water_kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert high_water_kib < 40 * 1024


def test_a_second_recorder_is_refused(tmp_path: Path) -> None:
    with recording(tmp_path) as recorder:
        refused = run("--lake", tmp_path, "--no-databases")
        recorder.terminate()
        recorder.communicate(timeout=180)
    assert refused.returncode == 2
    assert f"process {recorder.pid}" in refused.stderr
    assert "hint:" in refused.stderr


def test_a_connection_string_that_is_none_is_refused(tmp_path: Path) -> None:
    refused = run("--lake", tmp_path, "--dsn", "nonsense")
    assert refused.returncode == 2
    assert "hint:" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_what_retention_takes_was_summed_up_and_the_recorder_stays_small(tmp_path: Path) -> None:
    begin = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=40)
    row = {"ts": begin, "interval_s": 3600.0, "host": "a", "usr_pct": 20.0, "sys_pct": 5.0}
    keep(tmp_path, Dataset.from_rows(cpu=[row]).tables)
    with recording(tmp_path, "--keep", "7d") as recorder:
        deadline = time.monotonic() + 120
        while list(tmp_path.glob(f"sealed/cpu/{begin:%Y-%m-%d}/*")):
            assert time.monotonic() < deadline, "old rows are still there after 120 s"
            time.sleep(0.1)
        status = Path(f"/proc/{recorder.pid}/status").read_text(encoding="ascii")
        recorder.terminate()
        recorder.communicate(timeout=180)
    (series,) = history(Lake(tmp_path), own_figures(), begin - timedelta(hours=1), begin)
    assert series.values.tolist() == [25.0]
    high_water_kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert high_water_kib < 40 * 1024


def test_figures_that_cannot_be_read_are_refused_at_once(tmp_path: Path) -> None:
    refused = run("--lake", tmp_path, "--figures", tmp_path / "none.toml")
    assert (refused.returncode, "none.toml" in refused.stderr, "hint:" in refused.stderr) == (2, True, True)
