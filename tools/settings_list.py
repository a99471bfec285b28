"""Lists of settings (`src/doctord/dataset/catalogues/`) renewed by what running servers say.

A list holds for all versions, those too that nobody can start any more: so what servers say is added to what stands
there. Bounds widen, choices grow, a default on which versions disagree is emptied. What stands empty for a setting that
is listed already was emptied by somebody (a path, a number of this machine) and stays so. A new setting is taken as the
servers say it: look at it before it is committed. Since and until follow from which of the servers have it; notes are
people's.
"""

import argparse
import csv
import difflib
import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

LISTS: Final = Path(__file__).parents[1] / "src/doctord/dataset/catalogues"
COLUMNS: Final = ("name", "kind", "unit", "default", "least", "most", "choices", "needs", "since", "until", "note")
# A server says only that it is a whole number, or a real one; what it measures, people have added.
NARROWER: Final = {"int": ("size", "time"), "real": ("time",)}

Row = dict[str, str]


def row(name: str, kind: str, needs: str, **more: str) -> Row:
    """A line of a list; what is not given is empty."""
    return dict.fromkeys(COLUMNS, "") | {"name": name, "kind": kind, "needs": needs} | more


def read(text: str) -> dict[str, Row]:
    """The lines of a list, by name."""
    return {line["name"]: line for line in csv.DictReader(io.StringIO(text))}


def written(rows: Mapping[str, Row]) -> str:
    """A list as its file has it, in the order of the alphabet."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[name] for name in sorted(rows, key=str.lower))
    return out.getvalue()


def renewed(known: Mapping[str, Row], told: Mapping[str, Iterable[Row]]) -> dict[str, Row]:
    """A list with what servers say of it.

    Args:
        known: The list as it stands.
        told: What servers list by their version, the oldest first.
    """
    by_version = {version: {one["name"]: one for one in rows} for version, rows in told.items()}
    rows = dict(known)
    for listed in by_version.values():
        for name, one in listed.items():
            rows[name] = _joined(rows.get(name, one), one)
    for name in {name for listed in by_version.values() for name in listed}:
        have = [name in listed for listed in by_version.values()]
        versions = list(by_version)
        if name not in known and not have[0]:
            rows[name]["since"] = versions[have.index(True)]
        if not have[-1] and not rows[name]["until"] and not rows[name]["note"]:
            rows[name]["until"] = versions[len(have) - have[::-1].index(True)]
    return rows


def _joined(known: Row, told: Row) -> Row:
    """A line with what one more server says of it; see this module."""
    kind = known["kind"]
    is_same = kind == told["kind"] or kind in NARROWER.get(told["kind"], ())
    joined = known | {"kind": kind if is_same else "string"}
    joined |= {"unit": told["unit"] or known["unit"]}
    if known["needs"] == "restart" and told["needs"]:  # what needed one once may have learned to do without
        joined["needs"] = told["needs"]
    if known["default"] != told["default"]:
        joined["default"] = ""
    if known["least"] and told["least"]:
        joined["least"] = min(known["least"], told["least"], key=float)
    if known["most"] and told["most"]:
        joined["most"] = max(known["most"], told["most"], key=float)
    if known["choices"]:
        more = [choice for choice in told["choices"].split() if choice not in known["choices"].split()]
        joined["choices"] = " ".join([known["choices"], *more])
    return joined


def renew(name: str, told: Mapping[str, Iterable[Row]], *, write: bool) -> int:
    """Print what would change in a list, or write it; the exit status: 1 if there is something that was not written."""
    file = LISTS / name
    before = file.read_text(encoding="utf-8")
    after = written(renewed(read(before), told))
    if write:
        file.write_text(after, encoding="utf-8")
    sys.stdout.writelines(difflib.unified_diff(*(text.splitlines(keepends=True) for text in (before, after)), n=0))
    print(f"{name}: {'as before' if before == after else 'written' if write else 'differs: --write'}", file=sys.stderr)
    return before != after and not write


def arguments(description: str | None, versions: Sequence[int] = ()) -> argparse.Namespace:
    """The command line: `--write`, and where there are several versions of the server which of them to start."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="rewrite the list; without it what differs is printed")
    if versions:
        parser.add_argument("versions", nargs="*", type=int, default=list(versions), help="versions to start")
    return parser.parse_args()
