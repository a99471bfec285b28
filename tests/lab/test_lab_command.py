import json
import re

from typer.testing import CliRunner

from doctord.cli import app
from doctord.cli import lab as _registered  # noqa: F401 - registers the command


def test_list_names_every_fault_with_what_it_needs() -> None:
    result = CliRunner().invoke(app, ["lab", "list"])
    assert result.exit_code == 0
    assert re.search("^cpu_hog +Processes outside the database take all CPUs.$", result.stdout, re.MULTILINE)
    assert "(root)" in result.stdout


def test_list_as_json_holds_the_expected_causes() -> None:
    result = CliRunner().invoke(app, ["lab", "list", "--json"])
    faults = {fault["fault"]: fault for fault in json.loads(result.stdout)}
    assert faults["row_lock_convoy"]["expected_cause"] == "row_locks"
    assert faults["none"]["expected_cause"] is None


def test_an_unknown_fault_is_refused_with_the_nearest_name() -> None:
    result = CliRunner().invoke(app, ["lab", "run", "row-lock-convoi"])
    assert result.exit_code == 2
    assert "there is no fault 'row-lock-convoi'" in result.stderr
    assert "did you mean row_lock_convoy?" in result.stderr


def test_list_as_json_holds_the_intensities() -> None:
    result = CliRunner().invoke(app, ["lab", "list", "--json"])
    faults = {fault["fault"]: fault["intensities"] for fault in json.loads(result.stdout)}
    assert faults["row_lock_convoy"] == ["mild", "moderate", "severe"]
    assert faults["none"] == ["moderate"]


def test_an_intensity_that_a_fault_does_not_come_in_is_refused() -> None:
    result = CliRunner().invoke(app, ["lab", "run", "synchronous_standby_missing", "--intensity", "mild"])
    assert result.exit_code == 2
    assert "there is no mild synchronous_standby_missing" in result.stderr
    assert "hint: it comes as moderate" in result.stderr


def test_a_wrong_folder_of_programs_is_refused() -> None:
    result = CliRunner().invoke(app, ["lab", "run", "none", "--bin-dir", "/proc"])
    assert result.exit_code == 2
    assert "/proc holds no initdb" in result.stderr
    assert "hint: install PostgreSQL" in result.stderr
