"""What makes a function a command."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from doctord.cli._command import command, status
from doctord.errors import UserError


@dataclass(frozen=True, slots=True)
class Where:
    paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", help="Files.")] = None
    lake: Annotated[Path | None, typer.Option(metavar="LAKE", help="The lake.")] = None


@pytest.fixture
def program() -> typer.Typer:
    program = typer.Typer()

    @command(program)
    def one(*, where: Where, again: Annotated[int, typer.Option(metavar="N", help="How often.")] = 1) -> int:
        """Do one thing."""
        if where.lake == Path("forbidden"):
            raise UserError("no\nhint: not ours", "another")
        typer.echo(f"{where.paths} {where.lake} {again}")
        return 1 if where.paths else 0

    return program


@pytest.mark.parametrize(
    ("arguments", "said", "ends"),
    [([], "None None 1\n", 0), (["a", "b", "--lake", "l", "--again", "2"], f"{[Path('a'), Path('b')]} l 2\n", 1)],
)
def test_a_group_of_options_is_options_and_what_is_returned_the_status(
    program: typer.Typer, arguments: list[str], said: str, ends: int
) -> None:
    result = CliRunner().invoke(program, arguments)
    assert (result.stdout, result.exit_code) == (said, ends)


def test_a_refusal_is_said_and_ends_with_2(program: typer.Typer) -> None:
    result = CliRunner().invoke(program, ["--lake", "forbidden"])
    assert result.exit_code == 2
    assert result.stderr.endswith("\nhint: another\n")
    assert result.stdout == ""


def test_help_has_the_options_of_a_group_and_no_types(program: typer.Typer) -> None:
    said = CliRunner().invoke(program, ["--help"]).stdout
    assert "PATH" in said
    assert "list[Path]" not in said
    assert "--lake" in said


@pytest.mark.parametrize(("healthy", "ends"), [(True, 0), (False, 1), (None, 2)])
def test_what_cannot_be_told_is_no_health(*, healthy: bool | None, ends: int) -> None:
    assert status(healthy) == ends
