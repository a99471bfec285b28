"""What is wrong with a lake, and what was done about it: JSON documents, and the same to be read on a terminal."""

from collections.abc import Sequence
from typing import Any

from doctord.app.verify import Repaired
from doctord.lake.verify import Flaw, Verified
from doctord.printable import printable
from doctord.units import in_bytes


def document(found: Verified | Repaired) -> dict[str, Any]:
    """What `doctord verify --json` and `doctord repair --json` give."""
    if isinstance(found, Repaired):
        flaws = [_flaw(found.verified, flaw) | {"done": deed} for flaw, deed in found.done]
        return {"lake": str(found.verified.root), "files": found.verified.files, "repaired": flaws}
    flaws = [_flaw(found, flaw) for flaw in found.flaws]
    return {"lake": str(found.root), "files": found.files, "size_bytes": found.size_bytes, "flaws": flaws}


def render(found: Verified | Repaired) -> str:
    """A line on the lake, then each flaw, or what was done about each."""
    return _lines(found.verified, found.done) if isinstance(found, Repaired) else _lines(found)


def _lines(found: Verified, done: Sequence[tuple[Flaw, str]] | None = None) -> str:
    harmful = sum(not flaw.is_harmless for flaw in found.flaws)
    state = f"{harmful} of them damaged, foreign or misplaced" if harmful else "sound"
    lines = [f"{found.root}: {found.files} files, {in_bytes(found.size_bytes)}: {state}"]
    if done is None:
        lines += [_line(found, flaw) for flaw in found.flaws]
    else:
        lines += [f"{_line(found, flaw)}\n  {deed}" for flaw, deed in done]
    return printable("\n".join(lines))


def _line(found: Verified, flaw: Flaw) -> str:
    name = str(flaw.path.relative_to(found.root)).replace("\n", "?")
    return f"{name}\n  {flaw.kind.replace('_', ' ')}: {flaw.text}"


def _flaw(found: Verified, flaw: Flaw) -> dict[str, str]:
    return {"file": str(flaw.path.relative_to(found.root)), "kind": flaw.kind, "text": flaw.text}
