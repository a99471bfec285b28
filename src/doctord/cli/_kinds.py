"""Kinds of options by what they take, so that each has one metavar in all commands.

A kind is called with the help, and with the option's words where these are not the parameter's name:
`Annotated[str | None, moment("Up to this moment.", "--to")]`.
"""

from collections.abc import Callable
from typing import Any, Final

import typer


def _takes(metavar: str | None) -> Callable[..., Any]:
    def kind(text: str, *words: str, **more: Any) -> Any:  # noqa: ANN401 - what typer takes, and gives
        return typer.Option(*words, metavar=metavar, help=text, **more)

    return kind


flag: Final = _takes(None)  # nothing, or one of the choices that its type names
amount: Final = _takes("SIZE")
file: Final = _takes("FILE")
folder: Final = _takes("DIR")
in_lake: Final = _takes("LAKE")
length: Final = _takes("LENGTH")
moment: Final = _takes("MOMENT")
name: Final = _takes("NAME")
number: Final = _takes("N")
process: Final = _takes("PID")
server: Final = _takes("DSN")


def argument(text: str, metavar: str = "PATH", **more: Any) -> Any:  # noqa: ANN401 - what typer takes, and gives
    """The arguments of a command: most name files, folders or lakes."""
    return typer.Argument(metavar=metavar, help=text, **more)
