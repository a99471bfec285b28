"""The recorder's unit, and what lets it see more."""

import subprocess
from pathlib import Path

import pytest

from doctord.app.unit import RIGHTS, drop_in, unit
from doctord.errors import UserError


def test_a_drop_in_grants_what_was_asked_for_and_says_what_it_exposes() -> None:
    text = drop_in(["kmsg"])
    assert "AmbientCapabilities=CAP_SYSLOG\n" in text
    assert "DeviceAllow=/dev/kmsg r" in text
    assert RIGHTS["kmsg"].exposes in text
    assert "PTRACE" not in text


def test_rights_come_in_one_order_whichever_way_they_are_asked_for() -> None:
    assert drop_in(["files", "ptrace"]) == drop_in(["ptrace", "files"])
    assert "CapabilityBoundingSet=CAP_SYS_PTRACE CAP_DAC_READ_SEARCH\n" in drop_in(["files", "ptrace"])


def test_a_right_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match="no right 'root'") as refused:
        drop_in(["kmsg", "root"])
    assert refused.value.hint == "--with kmsg,ptrace,files,perf"


@pytest.mark.parametrize("rights", [[], list(RIGHTS)], ids=["none", "all"])
def test_systemd_accepts_it(tmp_path: Path, rights: list[str]) -> None:
    file = tmp_path / "doctord.service"
    more = f"{drop_in(rights)}\n" if rights else ""
    file.write_text(unit().replace("/usr/local/bin/doctord", "/bin/true").replace("[Install]", f"{more}[Install]"))
    try:
        verified = subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("systemd-analyze is not installed")
    assert "Unknown" not in verified.stderr
    assert "Failed to parse" not in verified.stderr
