import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from doctord import cli
from doctord.app.lint_host import configured

ORACLE = "*.db_name='x'\n*.processes=300\n*.processes=400\n*.sga_target=6G\n"


def run(*arguments: str) -> Result:
    cli.load()
    return CliRunner().invoke(cli.app, ["lint", *arguments])


@pytest.fixture
def init_ora(tmp_path: Path) -> Path:
    file = tmp_path / "initx.ora"
    file.write_text(ORACLE, encoding="utf-8")
    return file


def test_a_file_with_something_wrong_ends_with_1(init_ora: Path) -> None:
    outcome = run(str(init_ora), "--json")
    assert outcome.exit_code == 1
    told = {one["rule"]: one for one in json.loads(outcome.stdout)["violations"]}["oracle/set_twice"]
    assert [setting["line"] for setting in told["settings"]] == [2, 3]


def test_a_time_without_a_lake_is_refused(init_ora: Path) -> None:
    outcome = run(str(init_ora), "--from", "-2h")
    assert outcome.exit_code == 2
    assert "--with LAKE" in outcome.stderr


def test_the_baseline_excuses_it(init_ora: Path, tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    file.write_text("[[accept]]\nrule='oracle/*'\nreason='known'\nuntil=2999-12-31\n", encoding="utf-8")
    outcome = run(str(init_ora), "--baseline", str(file))
    assert outcome.exit_code == 0
    assert "known (until 2999-12-31)" in outcome.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--json", "--sarif"), "one of them"),
        (("--write",), "--write needs --fix"),
        (("--dsn", "port=1"), "either files or servers"),
        (("--baseline", "/nowhere.toml"), "/nowhere.toml"),
    ],
)
def test_what_does_not_go_together_is_refused(init_ora: Path, arguments: tuple[str, ...], words: str) -> None:
    outcome = run(str(init_ora), *arguments)
    assert outcome.exit_code == 2
    assert words in outcome.stderr


def test_a_value_of_ten_megabytes_is_shown_in_short(tmp_path: Path) -> None:
    file = tmp_path / "multipath.conf"
    file.write_text("defaults {\n rr_min_io " + "x" * (10 << 20) + "\n failback manual\n}\n", encoding="utf-8")
    outcome = run(str(file))
    assert outcome.exit_code == 1
    assert len(outcome.stdout) < 5000
    assert "returns_by_hand" in outcome.stdout
    assert f"{file}:2: longer than 1 MiB" in outcome.stderr


def test_nothing_is_changed_without_write(init_ora: Path, tmp_path: Path) -> None:
    run(str(init_ora), "--fix", str(tmp_path / "out"))
    assert init_ora.read_text(encoding="utf-8") == ORACLE


def test_the_files_of_a_host_that_say_something(tmp_path: Path) -> None:
    for name, text in {
        "etc/sysctl.d/10-db.conf": "vm.swappiness = 1\n",
        "etc/sysctl.conf": "# nothing here\n",
        "etc/systemd/system/mariadb.service.d/limits.conf": "[Service]\nLimitNOFILE=1\n",
        "etc/hosts": "127.0.0.1 localhost\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    found = [str(path.relative_to(tmp_path)) for path in configured(tmp_path)]
    assert found == ["etc/sysctl.d/10-db.conf", "etc/systemd/system/mariadb.service.d/limits.conf"]
