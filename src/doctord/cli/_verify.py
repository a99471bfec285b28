"""What `verify` and `repair` share: looking at a lake with progress, and saying what was found and done."""

import json as json_text
from pathlib import Path

import typer
from rich.console import Console

from doctord.lake import repair as repairs
from doctord.lake import verify as lakes
from doctord.lake.place import Place, default_lake
from doctord.printable import printable


def verify(lake: Path | None, *, json: bool) -> int:
    """Say what is wrong with a lake; the exit status."""
    place = Place(lake or default_lake())
    verified = _verified(place)
    if json:
        flaws = [_record(place, flaw) for flaw in verified.flaws]
        document = {"lake": str(place.root), "files": verified.files, "size_bytes": verified.size_bytes, "flaws": flaws}
        typer.echo(json_text.dumps(document))
    else:
        typer.echo(_summary(place, verified))
        for flaw in verified.flaws:
            typer.echo(printable(_line(place, flaw)))
        if verified.flaws:
            typer.echo("hint: doctord repair sets these right; it deletes nothing", err=True)
    return int(any(not flaw.is_harmless for flaw in verified.flaws))


def repair(lake: Path | None, *, json: bool) -> int:
    """Set a lake right and say what was done; the exit status."""
    place = Place(lake or default_lake())
    verified = _verified(place)
    done = list(repairs.repair(place, verified.flaws))
    if json:
        repaired = [_record(place, flaw) | {"done": deed} for flaw, deed in done]
        typer.echo(json_text.dumps({"lake": str(place.root), "files": verified.files, "repaired": repaired}))
    else:
        typer.echo(_summary(place, verified))
        for flaw, deed in done:
            typer.echo(printable(f"{_line(place, flaw)}\n  {deed}"))
    return 0


def _verified(place: Place) -> lakes.Verified:
    console = Console(stderr=True)
    with console.status("reading") as status:
        return lakes.verify(place, lambda files: status.update(f"{files} files read"))


def _summary(place: Place, verified: lakes.Verified) -> str:
    harmful = sum(not flaw.is_harmless for flaw in verified.flaws)
    state = f"{harmful} of them damaged, foreign or misplaced" if harmful else "sound"
    return f"{place.root}: {verified.files} files, {verified.size_bytes / (1 << 20):.1f} MiB: {state}"


def _line(place: Place, flaw: lakes.Flaw) -> str:
    name = str(flaw.path.relative_to(place.root)).replace("\n", "?")
    return f"{name}\n  {flaw.kind.replace('_', ' ')}: {flaw.text}"


def _record(place: Place, flaw: lakes.Flaw) -> dict[str, str]:
    return {"file": str(flaw.path.relative_to(place.root)), "kind": flaw.kind, "text": flaw.text}
