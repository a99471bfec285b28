"""The command line: one thin file per command, `_` before what several share; a folder for commands of one subject.

Heavy imports (Arrow, Polars, DuckDB, a database driver) are local to the command that needs them.
"""

import gc
import importlib
import pkgutil
import sys
from collections.abc import Callable
from inspect import Signature
from typing import Annotated, Any

import typer
from typer.main import get_command_name

from doctord.cli._command import command, show, status
from doctord.report.progress import Terminal
from doctord.streams import harmless_streams

__all__ = ["Terminal", "app", "command", "load", "main", "show", "status"]

ALIVE = 500_000  # objects after which circles among them are looked for: what is imported stays, and is most of them

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"doctord {version('doctord')}")
        raise typer.Exit


@app.callback()
def doctord(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Doctor D: what ails this database server, how it knows, and what to do."""


def load(word: str = "") -> None:
    """Register every command, in the order of their names: each module here or in a folder that is no shared ground.

    Of a word that a command may begin with, only the modules whose names begin so, where there are any: a module is
    named after its commands (`study` and `study-run`, `map_kept` and `map_live`).
    """
    names = sorted((module.name for module in pkgutil.walk_packages(__path__, f"{__name__}.")), key=_leaf)
    wanted = [name for name in names if _leaf(name).partition("_")[0] == (word.partition("-")[0] or None)]
    for name in wanted or names:
        importlib.import_module(name)


def _leaf(module: str) -> str:
    return module.rpartition(".")[2]


def only(word: str) -> None:
    """Leave Typer the command or group of this name, if there is one; else all stay, as completion needs them.

    It makes options of all that is registered, which is half of the time that a command takes to begin.
    """
    commands = [one for one in app.registered_commands if one.callback and _name(one.name, one.callback) == word]
    groups = [one for one in app.registered_groups if one.name == word]
    if commands or groups:
        app.registered_commands, app.registered_groups = commands, groups


def names_alone(group: typer.Typer) -> None:
    """Leave Typer the commands of a group without their options, of which the help on all commands says nothing."""
    for one in group.registered_commands:
        vars(one.callback)["__signature__"] = Signature()
    for below in group.registered_groups:
        if below.typer_instance:
            names_alone(below.typer_instance)


def _name(name: str | None, function: Callable[..., Any]) -> str:
    return name or get_command_name(function.__name__)


def main() -> None:
    """Run the command line. Exit status: 0 healthy, 1 findings, 2 usage or data error."""
    gc.set_threshold(ALIVE)
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    load(word)
    if word in ("-h", "--help"):
        names_alone(app)
    else:
        only(word)
    with harmless_streams():
        app(prog_name="doctord")
