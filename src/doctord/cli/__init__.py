"""The command line: one thin file per command, `_` before what several share; a folder for commands of one subject.

Heavy imports (Arrow, Polars, DuckDB, a database driver) are local to the command that needs them.
"""

import importlib
import pkgutil
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.main import get_command_name

from doctord.cli._command import command, show, status
from doctord.report.progress import Terminal
from doctord.streams import harmless_streams

__all__ = ["Terminal", "app", "command", "load", "main", "show", "status"]

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


def load() -> None:
    """Register every command, in the order of their names: each module here or in a folder that is no shared ground."""
    names = (module.name for module in pkgutil.walk_packages(__path__, f"{__name__}."))
    for name in sorted(names, key=lambda name: name.rpartition(".")[2]):
        importlib.import_module(name)


def only(word: str) -> None:
    """Leave Typer the command or group of this name, if there is one; else all stay, as help and completion need them.

    It makes options of all that is registered, which is half of the time that a command takes to begin.
    """
    commands = [one for one in app.registered_commands if one.callback and _name(one.name, one.callback) == word]
    groups = [one for one in app.registered_groups if one.name == word]
    if commands or groups:
        app.registered_commands, app.registered_groups = commands, groups


def _name(name: str | None, function: Callable[..., Any]) -> str:
    return name or get_command_name(function.__name__)


def main() -> None:
    """Run the command line. Exit status: 0 healthy, 1 findings, 2 usage or data error."""
    load()
    only(sys.argv[1] if len(sys.argv) > 1 else "")
    with harmless_streams():
        app(prog_name="doctord")
