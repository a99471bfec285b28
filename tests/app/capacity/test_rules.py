"""Figures and thresholds from their files."""

from pathlib import Path

import pytest

from doctord.app.capacity.rules import figures_of, own_rules, rules_of
from doctord.dataset.figure import own_figures
from doctord.errors import UserError

SCANS = """[[figure]]
name = "scans"
title = "pages scanned"
component = "host memory"
table = "memory"
value = "scan_per_s"
unit = "per_s"
"""


def test_thresholds_that_are_built_in_have_reason_source_and_plan() -> None:
    thresholds = own_rules().thresholds
    assert {one.figure for one in thresholds} >= {"filesystem_used_pct", "cpu_used_pct", "steal_pct", "wait_ms"}
    assert [
        one.name for one in thresholds if not (one.reason and one.source and one.plan.text and one.plan.lead_s)
    ] == []


def test_a_file_adds_figures_but_gives_no_name_anew(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SCANS)
    assert [figure.name for figure in figures_of(file)[len(own_figures()) :]] == ["scans"]
    file.write_text(SCANS.replace('"scans"', '"cpu_used_pct"'))
    with pytest.raises(UserError, match=r"mine\.toml: figure 'cpu_used_pct': doctord has one of that name"):
        figures_of(file)


def test_thresholds_are_the_user_s_or_doctor_d_s_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[[threshold]]\nname = "busy"\nfigure = "disk_util_pct"\nlimit = 80\n')
    assert [threshold.name for threshold in rules_of(file).thresholds] == ["busy"]
    assert rules_of(None) is own_rules()


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nothing\.toml"):
        rules_of(tmp_path / "nothing.toml")
    (tmp_path / "latin.toml").write_bytes(b'[[threshold]]\nname = "Gr\xf6sse"\n')
    with pytest.raises(UserError, match=r"latin\.toml"):
        rules_of(tmp_path / "latin.toml")
