"""What `doctord size` reads from its options, and prints."""

from collections.abc import Sequence
from pathlib import Path

import typer

from doctord.analyse.sizing.found import Measured
from doctord.analyse.sizing.question import Question
from doctord.app import size
from doctord.cli._amounts import parse_amount
from doctord.cli._sources import source_of, span
from doctord.cli._terminal import Terminal
from doctord.cli.arguments import Refusal
from doctord.printable import json_text
from doctord.report import sizing


def answer(
    question: Question,
    paths: Sequence[Path],
    *,
    lake: Path | None,
    live: bool,
    db: str | None,
    since: str | None,
    until: str | None,
    json: bool,
    **given: str | None,
) -> int:
    """Print the answer to a question; the exit status.

    Raises:
        Refusal: a figure is missing or wrong, or nothing can be read.
    """
    source = source_of(paths, lake)
    if live and (paths or lake):
        raise Refusal("either this host now, or files or a lake", "leave out --live")
    options = {one: given[size.name_of(one)] for one in question.inputs}
    told = {one: parse_amount(text, one) for one, text in options.items() if text is not None}
    seen: Measured | None = None
    if live:
        seen = size.measured_now(Terminal())
    elif paths or lake:
        seen = size.measured(source, *span(since, until), Terminal())
    found = size.size(question, told, seen, db, live=live)
    document = sizing.document(question, found.worked, found.known)
    typer.echo(json_text(document) if json else sizing.render(question, found.worked, found.known))
    return 1 if found.worked.fits is False else 0
