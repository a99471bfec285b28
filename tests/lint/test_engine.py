import ast
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from doctord import cli, units
from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from doctord.lint.rule import RULES
from doctord.lint.violation import Severity
from doctord.report.lint import terminal as lint_terminal
from settings_datasets import HOST, dataset, machine, violations


def test_fsync_off_is_an_error_and_its_documentation_completes_it() -> None:
    found = violations(dataset("postgresql", {"fsync": "off"}, db="postgresql:5432"))["postgresql/fsync_off"]
    assert found.severity is Severity.ERROR
    assert found.subject == "postgresql:5432"
    assert found.fix == RULES["postgresql/fsync_off"].sections["Fix"]
    assert [(change.name, change.value) for change in found.changes] == [("fsync", "on")]


def test_nothing_is_said_of_what_is_right() -> None:
    assert violations(dataset("postgresql", {"fsync": "on"}, db="postgresql:5432", **machine())) == {}


def test_a_file_says_less_than_the_running_server() -> None:
    rows = [
        {"host": HOST, "component": "postgresql", "name": "fsync", "value": "on", "source": "configuration file"},
        {"host": HOST, "component": "postgresql", "name": "fsync", "value": "off", "source": "file", "line": 3},
    ]
    assert "postgresql/fsync_off" not in violations(Dataset.from_rows(setting=rows))


def test_the_terminal_says_cost_change_and_how_to_verify() -> None:
    text = lint_terminal.render(engine.examine(dataset("postgresql", {"fsync": "off"})), 80, colour=False)
    assert text.splitlines()[0] == "Settings: 1 error"
    assert "fsync = on (needs: reload)" in text
    assert max(map(len, text.splitlines())) <= 80


def test_no_setting_at_all_is_refused(tmp_path: Path) -> None:
    cli.load()
    (tmp_path / "notes.txt").write_text("nothing here\n", encoding="utf-8")
    outcome = CliRunner().invoke(cli.app, ["lint", str(tmp_path / "notes.txt")])
    assert outcome.exit_code == 2


def test_the_name_of_a_rule_never_changes() -> None:
    own = {rule.name for rule in RULES.values() if rule.check.__module__.startswith("doctord.")}
    names = Path(__file__).with_name("rule_names.txt").read_text().split()
    assert sorted(own) == names, "baselines have these names: add, rename none"


def made_to_text(node: ast.AST) -> Iterator[str]:
    """The texts in a violation that format a figure themselves; values of settings that are to be changed are text."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "change":
        return
    if isinstance(node, ast.JoinedStr) and any(getattr(part, "format_spec", None) for part in node.values):
        yield ast.unparse(node)
    for child in ast.iter_child_nodes(node):
        yield from made_to_text(child)


def test_a_rule_leaves_its_figures_to_be_said() -> None:
    formatters = {name for name in dir(units) if name.startswith("in_")} | {"duration", "number", "quantity"}
    for path in (Path(units.__file__).parent / "lint").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "doctord.units":
                assert not formatters & {one.name for one in node.names}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "violation":
                assert list(made_to_text(node)) == [], path
