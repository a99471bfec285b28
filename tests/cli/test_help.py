"""Every command says the same of itself in the same way."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group
from typer.testing import CliRunner

from doctord import cli


def commands() -> Iterator[tuple[str, TyperCommand]]:
    cli.load()
    waiting = list(get_group(cli.app).commands.items())
    while waiting:
        name, command = waiting.pop()
        if isinstance(command, TyperGroup):
            waiting += [(f"{name} {part}", one) for part, one in command.commands.items()]
        elif isinstance(command, TyperCommand):
            yield name, command


ALL = dict(commands())


@pytest.mark.parametrize("name", ALL)
def test_help_tells_the_exit_status_and_names_no_types(name: str) -> None:
    result = CliRunner().invoke(cli.app, [*name.split(), "-h"])
    assert result.exit_code == 0
    assert "Exit status: 0" in result.stdout
    assert not [kind for kind in ("<str>", "<path>", "<int", "<list", "<float>") if kind in result.stdout]
    assert "..." not in result.stdout.partition("Arguments:")[2].partition("Options:")[0]


@pytest.mark.parametrize("name", sorted({name.partition(" ")[0] for name in ALL}))
def test_a_command_stands_in_the_module_that_is_imported_for_it(name: str) -> None:
    """In a process of its own: here all are imported already."""
    code = f"from typer.main import get_group as group; from doctord import cli; cli.load({name!r})"
    code += "; print(*group(cli.app).commands)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert name in told.split()


def test_one_word_for_one_thing() -> None:
    words: dict[str, set[str]] = {}
    for command in (command for name, command in ALL.items() if not name.startswith("size ")):  # each its own figures
        for option in command.params:
            for word in option.opts:
                if word.startswith("--") and option.metavar:
                    words.setdefault(word, set()).add(option.metavar)
    several = {word: kinds for word, kinds in words.items() if len(kinds) > 1}
    # What more to judge by, and what more to let the recorder see; up to when, and where to.
    assert several == {"--with": {"LAKE", "NAME"}, "--to": {"MOMENT", "PLACE"}}
    assert not words.keys() & {"--file", "--within", "--report"}


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("doctord trace --how ", ["auto", "bpf", "strace"]),
        ("doctord diagnose --zone Europe/Berl", ["Europe/Berlin"]),
        ("doctord lab run idle_", ["idle_in_transaction"]),
        ("doctord size wal --max", ["--max-wal-size"]),
    ],
)
def test_a_shell_completes_options_and_their_values(typed: str, offered: list[str]) -> None:
    at = len(typed.split(" ")) - 1
    asked = {"_DOCTORD_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(at)}
    result = CliRunner().invoke(cli.app, [], prog_name="doctord", env=asked)
    assert result.stdout.split() == offered


def test_python_finds_it_too() -> None:
    result = subprocess.run([sys.executable, "-m", "doctord", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("doctord ")


@pytest.mark.parametrize(
    ("word", "left"), [("map-live", {"map-live"}), ("size", {"size"}), ("diagnos", None), ("--help", None), ("", None)]
)
def test_options_are_made_of_what_is_asked_for_alone(
    word: str, left: set[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.load()
    for registered in ("registered_commands", "registered_groups"):
        monkeypatch.setattr(cli.app, registered, [*getattr(cli.app, registered)])
    every = set(get_group(cli.app).commands)
    cli.only(word)
    assert set(get_group(cli.app).commands) == (left or every)
