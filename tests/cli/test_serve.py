"""`doctord serve`: what it refuses before it listens."""

from pathlib import Path

import pytest

from in_process import doctord


def test_without_a_lake_it_does_not_begin(tmp_path: Path) -> None:
    done = doctord("serve", "--lake", tmp_path, "--port", "0")
    assert done.returncode == 2
    assert "no lake here" in done.stderr


@pytest.mark.parametrize("word", ["--certificate", "--key"])
def test_a_certificate_goes_with_its_key(tmp_path: Path, word: str) -> None:
    (tmp_path / "open").mkdir()
    done = doctord("serve", "--lake", tmp_path, word, tmp_path / "x.pem", "--port", "0")
    assert done.returncode == 2
    assert "--certificate and --key" in done.stderr


def test_a_certificate_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    pem = tmp_path / "x.pem"
    pem.write_text("nothing")
    done = doctord("serve", "--lake", tmp_path, "--certificate", pem, "--key", pem, "--port", "0")
    assert done.returncode == 2
    assert "in PEM" in done.stderr


def test_a_port_that_is_none_is_a_wrong_option() -> None:
    assert doctord("serve", "--port", "70000").returncode == 2
