"""For how long certificates hold, as openssl makes them."""

import re
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from certificates import make_certificate
from doctord.collect.postgres.connection.certificate import in_file, validity


def as_openssl_says(path: Path, option: str) -> datetime:
    command = ["openssl", "x509", "-noout", option, "-dateopt", "iso_8601", "-in", path]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return datetime.fromisoformat(said.strip().partition("=")[2])


@pytest.mark.parametrize("days", [1, 3650, 20000])
def test_the_times_are_those_that_openssl_tells(tmp_path: Path, days: int) -> None:
    path = make_certificate(tmp_path, timedelta(days=days))
    [times] = in_file(path.read_text())
    assert times.begins == as_openssl_says(path, "-startdate")
    assert times.ends == as_openssl_says(path, "-enddate")


def test_each_certificate_of_a_file_is_told_in_its_order(tmp_path: Path) -> None:
    own, authority = (make_certificate(tmp_path, timedelta(days=days)) for days in (10, 20))
    first, second = in_file(own.read_text() + "# an authority\n" + authority.read_text())
    assert second.ends - first.ends >= timedelta(days=9)


def test_a_file_without_certificates_has_none() -> None:
    assert in_file("no certificate") == []


@pytest.mark.parametrize(
    "der", [b"", b"\x30", b"\x30\x03abc", b"\x30\x84\xff\xff\xff\xff", b"\x30\x80", b"\x02\x01\x00"]
)
def test_what_is_no_certificate(der: bytes) -> None:
    with pytest.raises(ValueError, match="no certificate"):
        validity(der)


def test_one_that_was_cut_off(tmp_path: Path) -> None:
    text = make_certificate(tmp_path, timedelta(days=1)).read_text()
    cut = re.sub(r"(.{64}\n){2}[^-\n]*\n-----END", "-----END", text)
    with pytest.raises(ValueError, match="no certificate"):
        in_file(cut)
