import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("command", ["checkup", "record"])
def test_a_bad_dsn_is_refused_with_a_hint(command: str, tmp_path: Path) -> None:
    arguments = ["--for", "1s", "--lake", str(tmp_path / "lake"), "--dsn", "host=a passwordhunter2"]
    run = [Path(sys.executable).with_name("doctord"), command, *arguments]
    result = subprocess.run(run, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "a --dsn is no connection string\nhint: write it as" in result.stderr
    assert "hunter2" not in result.stdout + result.stderr
