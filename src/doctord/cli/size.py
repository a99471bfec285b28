"""`doctord size`: what settings should be, with the arithmetic: a command for each question, made of its inputs."""

from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from doctord.analyse.sizing.question import Input, Question
from doctord.analyse.sizing.questions import QUESTIONS
from doctord.cli import app
from doctord.cli.arguments import LakeDir, said

size = typer.Typer(no_args_is_help=True, help="Say what settings should be, and show the arithmetic.")
app.add_typer(size, name="size")

Files = Annotated[
    list[Path] | None, typer.Argument(metavar="PATH...", help="Files, folders, archives that hold the figures.")
]
Live = Annotated[bool, typer.Option("--live", help="Take figures of this host and its servers, now.")]
Db = Annotated[str | None, typer.Option(metavar="NAME", help="Only this database server of several: postgresql:5432.")]
Since = Annotated[str | None, typer.Option("--from", metavar="MOMENT", help="Start of the time that counts.")]
Until = Annotated[str | None, typer.Option("--to", metavar="MOMENT", help="End of it.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
METAVARS = {"bytes": "SIZE", "bytes_per_s": "SIZE/s", "s": "TIME", "per_s": "N/s", "share": "PERCENT", "count": "N"}
SHARED = (("lake", LakeDir), ("live", Live), ("db", Db), ("since", Since), ("until", Until), ("json", Json))


def _command(question: Question) -> Callable[..., None]:
    """The command that answers a question; its options are the question's inputs, and where figures come from."""

    def answer(paths: list[Path] | None, **given: Any) -> None:  # noqa: ANN401 - texts, and the options of SHARED
        with said():
            from doctord.cli import _size

            raise typer.Exit(_size.answer(question, paths or [], **given))

    answer.__doc__ = (
        f"{question.asks}\n\nFigures come from options, or from files, a lake or this host where these hold them; "
        "options go first.\n\nExit status: 0 answered, 1 what is there now does not fit, 2 a figure is missing or "
        "wrong."
    )
    parameters = [Parameter("paths", Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Files)]
    parameters += [_option(one) for one in question.inputs]
    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=False if name in ("live", "json") else None, annotation=kind)
        for name, kind in SHARED
    ]
    answer.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    answer.__annotations__ = {one.name: one.annotation for one in parameters}
    return answer


def _option(asked: Input) -> Parameter:
    metavar = METAVARS.get(asked.unit, "X:Y,X:Y,...")
    option = typer.Option(f"--{asked.option}", metavar=metavar, help=asked.help)
    name = asked.option.replace("-", "_")
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option])


for one in QUESTIONS.values():
    size.command(one.name)(_command(one))
