import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("command", ["checkup", "record"])
def test_a_bad_dsn_is_refused_with_a_hint(command: str, tmp_path: Path) -> None:
    arguments = ["--for", "1s", "--lake", str(tmp_path / "lake"), "--dsn", "host=a passwordhunter2"]
    run = [Path(sys.executable).with_name("doctord"), command, *arguments]
    result = subprocess.run(run, capture_output=True, text=True, timeout=180, check=False)
    assert result.returncode == 2
    assert "a --dsn is no connection string\nhint: write it as" in result.stderr
    assert "hunter2" not in result.stdout + result.stderr


def test_a_lake_that_cannot_be_written_is_refused_before_anybody_waits() -> None:
    began = time.monotonic()
    result = checkup("--for", "10m", "--lake", "/proc/lake")
    assert (result.returncode, result.stdout) == (2, "")
    assert "/proc/lake: no lake to write to" in result.stderr
    assert time.monotonic() - began < 170


@pytest.mark.root
def test_a_full_disk_as_lake_costs_the_lake_and_not_the_verdict(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path], check=True)
    try:
        (tmp_path / "ballast").write_bytes(bytes(64 << 10))
        result = checkup("--lake", str(tmp_path / "lake"))
    finally:
        subprocess.run(["umount", tmp_path], check=True)
    assert "LOOKED AT" in result.stdout
    told = [line for line in result.stderr.splitlines() if "No space left" in line]
    assert [line.startswith("doctord: ") for line in told] == [True]
    assert "hint: make room" in result.stderr


def checkup(*arguments: str) -> subprocess.CompletedProcess[str]:
    run = [Path(sys.executable).with_name("doctord"), "checkup", "--for", "2s", *arguments]
    return subprocess.run(run, capture_output=True, text=True, timeout=180, check=False)


def test_no_time_to_look_is_no_clean_bill() -> None:
    result = checkup("--for", "0s")
    assert (result.returncode, result.stdout) == (2, "")
    assert "'0s' is no time to wait\nhint: give a duration above zero" in result.stderr


def test_a_named_server_that_does_not_answer_is_no_health(tmp_path: Path) -> None:
    result = checkup("--dsn", f"host={tmp_path} port=5999 password=hunter2")
    assert result.returncode in {1, 2}, "1 where the host has a finding of its own"
    assert "the server that was named could not be asked" in " ".join(result.stdout.lower().split())
    assert "COULD NOT BE SEEN" in result.stdout
    assert "hunter2" not in result.stdout + result.stderr


def test_the_host_alone_is_examined_and_the_report_written(tmp_path: Path) -> None:
    result = checkup("--no-databases", "--json", "--html", str(tmp_path / "report.html"))
    assert result.returncode in {0, 1}
    document = json.loads(result.stdout)
    assert document["healthy"] is (result.returncode == 0)
    assert any("CPUs over" in line for line in document["looked_at"])
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_is_refused_before_the_look(tmp_path: Path) -> None:
    began = time.monotonic()
    result = checkup("--for", "60s", "--html", str(tmp_path / "missing" / "report.html"))
    assert result.returncode == 2
    assert "cannot be written\nhint:" in result.stderr
    assert time.monotonic() - began < 30


def test_who_interrupts_it_is_told_what_was_seen_so_far() -> None:
    _, out, err = interrupted(after_s=5)
    assert "interrupted: this is judged by what was seen so far" in err
    assert any("CPUs over" in line for line in json.loads(out)["looked_at"])


def test_who_interrupts_it_at_once_gets_no_verdict() -> None:
    code, out, err = interrupted(after_s=0)
    if out:  # on a busy machine it may have looked twice until it hears of it
        assert "CPUs" in json.loads(out)["judged"]
    else:
        assert code == 2
        assert "interrupted before there was anything to judge\nhint:" in err


def test_for_cron_it_says_nothing_where_all_is_well() -> None:
    result = checkup("--no-databases", "--quiet")
    assert (result.stdout == "") is (result.returncode == 0)
    assert result.stderr == ""


def interrupted(*, after_s: float) -> tuple[int, str, str]:
    """Exit code, output and messages of a check-up that is interrupted some seconds after it says that it looks."""
    run = [Path(sys.executable).with_name("doctord"), "checkup", "--for", "120s", "--no-databases", "--json"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as looking:
        assert looking.stderr is not None
        began = looking.stderr.readline()
        time.sleep(after_s)
        looking.send_signal(signal.SIGINT)
        out, err = looking.communicate(timeout=60)
    return looking.returncode, out, began + err
