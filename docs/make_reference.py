"""Makes the pages of docs/reference that come from the code: tables, causes, commands.

`python docs/make_reference.py` writes them; a test fails when a page does not say what the code says.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_group

from doctord import cli
from doctord.chart.tables import TABLES
from doctord.diagnose import engine
from doctord.diagnose.cause import CAUSES

FOLDER = Path(__file__).parent / "reference"
MADE = "<!-- Made from the code by docs/make_reference.py: change it there. -->"


def tables() -> Iterator[str]:
    """The vocabulary: every table with its columns."""
    yield "# Tables\n\nEvery source, live or file, fills these. Columns that a source does not know are null.\n"
    for table in TABLES.values():
        yield f"\n## {table.name}\nA row is {table.row}.\n\n| column | type | meaning |\n|---|---|---|\n"
        for column in table.columns:
            yield f"| {column.name} | {column.type} | {column.doc} |\n"


def causes() -> Iterator[str]:
    """Every cause, by organ, as its docstring has it."""
    assert engine.CAUSES is CAUSES  # importing the engine is what loads them
    yield "# Causes\n\nWhat `doctord checkup` and `doctord diagnose` look for, by organ.\n"
    for organ in sorted({cause.organ for cause in CAUSES.values()}):
        yield f"\n## {organ}\n"
        for cause in (cause for cause in CAUSES.values() if cause.organ == organ):
            yield f"\n### {cause.name}\n{cause.summary}\n\n"
            yield from (f"- **{heading}:** {text}\n" for heading, text in cause.sections.items())
            if cause.explains:
                yield f"- **Explains, when both are there:** {', '.join(cause.explains)}\n"


def commands() -> Iterator[str]:
    """Every command with its options, as `--help` has them."""
    cli.load()
    group = get_group(cli.app)
    yield "# Commands\n\nExit status of all: 0 healthy or done, 1 findings, 2 usage or data error.\n"
    for name, command in sorted(group.commands.items()):
        yield from _command(f"doctord {name}", command)


def _command(path: str, command: Any) -> Iterator[str]:
    yield f"\n## {path}\n{(command.help or '').strip()}\n\n"
    if isinstance(command, TyperGroup):
        for name, below in sorted(command.commands.items()):
            yield from _command(f"{path} {name}", below)
        return
    yield "| argument | default | meaning |\n|---|---|---|\n"
    for parameter in command.params:
        if parameter.name != "help":
            yield _row(parameter)


def _row(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    default = "" if parameter.default in (None, False, "", ()) else f"`{parameter.default}`"
    return f"| {names} | {default} | {getattr(parameter, 'help', None) or ''} |\n"


PAGES = {"tables.md": tables, "causes.md": causes, "commands.md": commands}


def page(name: str) -> str:
    """The text of a page."""
    return f"{MADE}\n{''.join(PAGES[name]())}"


if __name__ == "__main__":
    for made in PAGES:
        (FOLDER / made).write_text(page(made), encoding="utf-8")
