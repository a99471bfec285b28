"""Where corpus and casebook are named, their tests cannot be skipped."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"


@pytest.mark.parametrize("variable", ["DOCTORD_CORPUS", "DOCTORD_CASEBOOK"])
def test_a_folder_that_is_named_and_not_there_is_a_failure(variable: str, tmp_path: Path) -> None:
    environment = {**os.environ, variable: str(tmp_path / "none")}
    command = [sys.executable, "-c", "import shared"]
    result = subprocess.run(command, cwd=SUPPORT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert f"{variable} names {tmp_path}/none, which is no folder" in result.stderr


def test_a_file_that_is_missing_from_a_casebook_that_is_here_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shared  # noqa: PLC0415 - its names are replaced

    monkeypatch.setattr(shared, "CASEBOOK", tmp_path)
    with pytest.raises(AssertionError, match="is not here, while"):
        shared.sample(tmp_path / "listener" / "before.truss")
