import subprocess
import sys
from pathlib import Path

import pytest

DOCTORD = [Path(sys.executable).with_name("doctord"), "record"]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DOCTORD, *arguments], capture_output=True, text=True, timeout=60, check=False)


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
