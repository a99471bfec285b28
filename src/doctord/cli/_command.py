"""What makes a function a command, and how it says what was found, in one way for all.

Its parameters are options and arguments of typer; one that is a dataclass of options stands for each of them. A refusal
is printed on standard error with its hint, and ends with status 2; else what the function returns is the exit status,
or null for 0: most return what `show` gives.
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature
from typing import Any, Protocol, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand

from doctord.app.sources.hosts import Judged
from doctord.errors import UserError
from doctord.printable import json_text, note

Body = TypeVar("Body", bound=Callable[..., int | None])
Found = TypeVar("Found", bound=Judged)
Found_contra = TypeVar("Found_contra", contravariant=True)


class _Command(TyperCommand):
    """A command whose help names no types of Python: what an argument is, its metavar says."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - whatever typer gives
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                vars(parameter)["display_type_rich"] = lambda ctx: None  # noqa: ARG005 - of options the metavar does it


def command(group: typer.Typer, name: str | None = None) -> Callable[[Body], Body]:
    """Make a function a command of the program, or of a group of commands."""

    def register(body: Body) -> Body:
        group.command(name, cls=_Command)(_called(body))
        return body

    return register


def _called(body: Callable[..., int | None]) -> Callable[..., None]:
    """The function as typer is to see it, a parameter for each option."""
    parameters = inspect.signature(body, eval_str=True).parameters.values()
    groups: dict[str, Any] = {one.name: one.annotation for one in parameters if is_dataclass(one.annotation)}

    @functools.wraps(body)
    def called(**given: Any) -> None:  # noqa: ANN401 - whatever the options are
        for group, kind in groups.items():
            given[group] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        with _refusals_said():
            raise typer.Exit(body(**given) or 0)

    flat = [one for parameter in parameters for one in _options(parameter)]
    called.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    called.__annotations__ = {}  # the signature tells all; Typer would resolve these too, a tenth of the time of --help
    return called


def _options(parameter: Parameter) -> Iterator[Parameter]:
    """The options that a parameter stands for."""
    if not is_dataclass(parameter.annotation):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    for field in fields(parameter.annotation):
        default = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=field.type)


@contextmanager
def _refusals_said() -> Iterator[None]:
    try:
        yield
    except UserError as refusal:
        note(f"{refusal}\nhint: {refusal.hint}")
        raise typer.Exit(2) from refusal


class Words(Protocol[Found_contra]):
    """A module of `report/` that says what a use case found."""

    def document(self, found: Found_contra, /) -> Any:  # noqa: ANN401 - whatever JSON takes
        """The JSON document."""

    def render(self, found: Found_contra, /) -> str:
        """The same, to be read on a terminal."""


def status(healthy: bool | None) -> int:
    """The exit status: 0 where all is well, 1 where it is not, 2 where that cannot be told."""
    return 2 if healthy is None else 0 if healthy else 1


def show(found: Found, words: Words[Found], *, json: bool, alerts: str | None = None) -> int:
    """Print what was found, as one JSON document or to be read, or alerts of it alone; the exit status."""
    typer.echo(alerts or (json_text(words.document(found)) if json else words.render(found)))
    return status(found.healthy)
