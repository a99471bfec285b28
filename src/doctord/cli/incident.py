"""`doctord incident`: keep what an incident looked like, so that the next one of its kind is known."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import Terminal, app, command
from doctord.cli.arguments import HostNamed, Json, Lake, Library, argument, file, flag, moment, name, takes
from doctord.errors import UserError
from doctord.printable import json_text, note
from doctord.report.files import check_new

incident = typer.Typer(no_args_is_help=True, help="Keep what an incident looked like, and know the next of its kind.")
app.add_typer(incident, name="incident")

Named = Annotated[str, argument("An incident of the library.", "NAME")]


@command(incident)
def add(
    *,
    since: Annotated[str, moment("When it began: 2026-05-03T02:10Z, 02:10, -2h.", "--from")],
    until: Annotated[str, moment("When it ended, likewise.", "--to")],
    cause: Annotated[str, name("What it was: best the name of a cause of Doctor D's.")],
    called: Annotated[str | None, name("What to call it (default: cause and time).", "--name")] = None,
    said: Annotated[str, takes("TEXT")("What else there is to say: the remedy, a ticket.", "--note")] = "",
    replace: Annotated[bool, flag("Put it in the place of one of that name.", "--replace")] = False,
    lake: Lake = None,
    host: HostNamed = None,
    library: Library = None,
) -> None:
    """Keep an incident that was recorded: how its figures stood against the time before and after it.

    Exit status: 0 kept, 2 too little was recorded, there is another of that name, or a wrong option.
    """
    from doctord.app.asked import Interval
    from doctord.app.incidents import known
    from doctord.app.incidents import library as libraries
    from doctord.app.source import Recorded

    source, watcher = Recorded(lake, host), Terminal()
    placed = source.placed(Interval.asked(since, until), known.SHORTEST, watcher)
    begin, end = placed.moments
    kept = known.incident_of(source, begin, end, cause, name=called, note=said, watcher=watcher)
    place = libraries.place_of(lake, library)
    libraries.keep(place, [kept], watcher, replace=replace)
    note(f"{kept.name}: {len(kept.signature)} figures kept in {place}")


@command(incident, "list")
def list_(*, lake: Lake = None, library: Library = None, json: Json = False) -> None:
    """List the incidents that are kept.

    Exit status: 0, 2 the library may not be read.
    """
    from doctord.app.incidents.library import incidents_in, place_of
    from doctord.report import incidents as words

    place = place_of(lake, library)
    kept = words.Kept(str(place), incidents_in(place, Terminal()))
    typer.echo(json_text(words.kept_document(kept)) if json else words.kept_lines(kept))


@command(incident)
def show(*, named: Named, lake: Lake = None, library: Library = None, json: Json = False) -> None:
    """Show one incident: what moved in it, and how far.

    Exit status: 0, 2 there is none of that name.
    """
    from doctord.app.incidents.library import one_of, place_of
    from doctord.report import incidents as words

    found = one_of(place_of(lake, library), named, Terminal())
    typer.echo(json_text(words.one_document(found)) if json else words.one_lines(found))


@command(incident)
def remove(*, named: Named, lake: Lake = None, library: Library = None) -> None:
    """Forget an incident.

    Exit status: 0 forgotten, 2 there is none of that name, or the library may not be written.
    """
    from doctord.app.incidents.library import place_of, removed

    removed(place_of(lake, library), named)


@command(incident)
def export(
    *,
    output: Annotated[Path, file("Write them there.", "-o", "--output")],
    lake: Lake = None,
    library: Library = None,
) -> None:
    """Write all incidents into one file, for other servers of the site.

    Exit status: 0 written, 2 there is none, or the file is there already.
    """
    from doctord.app.incidents.library import export as exported
    from doctord.app.incidents.library import place_of

    check_new(output, "incidents")
    note(f"{_many(exported(place_of(lake, library), output, Terminal()))} in {output}")


@command(incident, "import")
def import_(
    *,
    files: Annotated[list[Path], argument("What incident export wrote, or files of single incidents.", "FILE")],
    replace: Annotated[bool, flag("Put them in the place of those of the same names.", "--replace")] = False,
    lake: Lake = None,
    library: Library = None,
) -> None:
    """Take in the incidents of files; those that are there already stay as they are.

    Exit status: 0 taken in, 2 a file is none, or another incident of a name is there.
    """
    from doctord.app.incidents.library import imported, keep, place_of

    found = [one for path in files for one in imported(path)]
    names = [one.name for one in found]
    if twice := next((one for one in names if names.count(one) > 1), None):
        raise UserError(f"two incidents are called {twice}", "import one of the files alone, or give it another name")
    place = place_of(lake, library)
    count = keep(place, found, Terminal(), replace=replace)
    old = f"; {_many(len(found) - count)} there already" if len(found) > count else ""
    note(f"{_many(count)} taken into {place}{old}")


def _many(count: int) -> str:
    return "1 incident" if count == 1 else f"{count} incidents"
