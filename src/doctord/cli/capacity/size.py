"""`doctord size`: what settings should be, with the arithmetic: a command for each question, made of its inputs."""

from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated

import typer

from doctord.analyse.sizing.question import Input, Question
from doctord.analyse.sizing.questions import QUESTIONS
from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Db, HostNamed, Json, Lake, Measured, OfFiles, When, argument, flag, takes
from doctord.errors import UserError

size = typer.Typer(no_args_is_help=True, help="Say what settings should be, and show the arithmetic.")
app.add_typer(size, name="size")

Paths = Annotated[list[Path] | None, argument("Files, folders, archives that hold the figures.")]
Live = Annotated[bool, flag("Take figures of this host and its servers, now.", "--live")]
METAVARS = {"bytes": "SIZE", "bytes_per_s": "SIZE/s", "s": "TIME", "per_s": "N/s", "share": "PERCENT", "count": "N"}


def _command(question: Question) -> Callable[..., int]:
    """The command that answers a question; its options are the question's inputs, and where figures come from."""

    def answer(
        *,
        paths: Paths = None,
        lake: Lake = None,
        host: HostNamed = None,
        live: Live = False,
        db: Db = None,
        when: When,
        files: OfFiles,
        json: Json = False,
        **given: str | None,
    ) -> int:
        from doctord.app import size as sizing
        from doctord.report import sizing as words

        source = Measured(paths, lake, host).source(files)
        if host and not (paths or lake):
            raise UserError("--host is one of files or of a lake, and none is named", "name them: --lake LAKE")
        used = source if paths or lake else None
        found = sizing.answer(question, given, used, when.interval(), db, live=live, watcher=Terminal())
        return show(found, words, json=json)

    answer.__doc__ = (
        f"{question.asks}\n\nFigures come from options, or from files, a lake or this host where these hold them; "
        "options go first.\n\nExit status: 0 answered, 1 what is there now does not fit, 2 a figure is missing or "
        "wrong."
    )
    shared = Signature.from_callable(answer).parameters.values()
    asked = [_option(one) for one in question.inputs]
    answer.__signature__ = Signature([*asked, *(one for one in shared if one.kind is Parameter.KEYWORD_ONLY)])  # type: ignore[attr-defined]
    return answer


def _option(asked: Input) -> Parameter:
    option = takes(METAVARS.get(asked.unit, "X:Y,X:Y,..."))(asked.help, f"--{asked.option}")
    name = asked.option.replace("-", "_")
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option])


for one in QUESTIONS.values():
    command(size, one.name)(_command(one))
