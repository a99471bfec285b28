"""How often the verdict on files is an expert's: field_cases.toml, judged by what doctord says of each.

    .venv/bin/python benchmarks/field_accuracy.py --write
    .venv/bin/python benchmarks/field_accuracy.py --write --cases benchmarks/field_cases_held_out_3.toml --files FOLDER

The expert's line was committed before doctord judged the file. A verdict is wrong in three ways: another cause first,
an alarm about what is healthy, and a clean bill for what is sick, which is the worst. Where the figures cannot carry a
verdict, saying so is right. FOLDER holds public files that were fetched and judged by an expert when the causes were
done, as field_cases_held_out.toml names those of the first time, field_cases_held_out_2.toml those of the second and
field_cases_held_out_3.toml those of the third. What was mended by its files afterwards stands below the table, where
there is a page of it (field_mended_held_out_3.md).
"""

import argparse
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from field_cases import BESIDE, CASES, STATES, Case, all_cases, files_of

from doctord.app.diagnose import diagnose
from doctord.app.source import Files
from doctord.diagnose.finding import Diagnosis
from doctord.errors import UserError
from doctord.read.source import ReadOptions
from doctord.report.plain import clean
from doctord.report.wording import verdict

REFERENCE: Final = Path(__file__).parents[1] / "docs" / "reference"
ROOTS = {name: Path(os.environ.get(f"DOCTORD_{name.upper()}", BESIDE / name)) for name in ("corpus", "casebook")}
SHARED: Final = (
    "# How often the verdict on files is an expert's",
    "benchmarks/field_accuracy.py --write",
    "The files are public ones and recordings (see each case in benchmarks/field_cases.toml). The expert's line was",
    "written from the raw data, with its figures, and committed before doctord judged them, by one of the makers who",
    "saw no output of doctord. Causes were mended by this table, so that it says less of files of tomorrow than",
    "[the one of files held out](field-accuracy-held-out-3.md).",
)
HELD_OUT: Final = (
    "# How often the verdict on files held out is an expert's",
    "benchmarks/field_accuracy.py --write --cases CASES --files FOLDER",
    "Public files that nobody here had seen, fetched when the causes were done, with an expert's line for each written",
    "from the raw data before doctord judged it, by one of the makers who saw no output of doctord: where each comes",
    "from and its figures stand in the cases' file of the same name in benchmarks/. Nothing was mended between the",
    "expert's line and this table.",
)
# Made after the expert's lines, for which he named the nearest cause that there was, and says so.
NEAREST: Final = {
    "kept_limit_passed": "time_grew",
    "oom_killed": "memory_short",
    "requests_over_limit": "time_grew",
    "round_trips_many": "large_results",
    "slow_file": "device_slow",
    "statements_slow": "statement_dominates",
    "tablespace_full_soon": "filesystem_full",
    "tasks_blocked": "device_saturated",
}
RIGHT, BORDERLINE = "right", "borderline"
# First of what is sick, and no cause: that nobody explains a wait, and what to collect. Neither right nor wrong.
HONEST, UNEXPLAINED = "honest", "other_waits"
CAUSE, ALARM, ACQUITTED, SILENT = "wrong cause", "false alarm", "**false healthy**", "no verdict"


def main() -> int:
    """Judge all cases, print those that are not right, and write the page where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--cases", type=Path, default=CASES, help="the cases' file; others than the first are held out")
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="where the files of held-out cases are")
    parser.add_argument("names", nargs="*", help="cases; all where none is named")
    arguments = parser.parse_args()
    is_held_out = arguments.cases.stem != CASES.stem
    cases = [case for case in all_cases(arguments.cases) if not arguments.names or case.name in arguments.names]
    roots = ROOTS | {"heldout": arguments.files}
    with tempfile.TemporaryDirectory(prefix="doctord-field-") as folder:
        told = [(case, *_judged(case, Path(folder), roots)) for case in cases]
    for case, score, words, causes in told:
        if score != RIGHT:
            print(f"{score:18} {case.name:28} {case.state:12} {words[:90]}  {causes[:3]}  wanted {list(case.first)}")
    print("\n".join(_sums([(case, score) for case, score, *_ in told])))
    if arguments.write:
        name = arguments.cases.stem.replace("cases", "accuracy").replace("_", "-")
        mended = arguments.cases.with_name(arguments.cases.stem.replace("cases", "mended") + ".md")
        page = _page(told, HELD_OUT if is_held_out else SHARED)
        page += mended.read_text(encoding="utf-8") if mended.exists() else ""
        (REFERENCE / f"{name}.md").write_text(page, encoding="utf-8")
    return 0


def _judged(case: Case, folder: Path, roots: Mapping[str, Path]) -> tuple[str, str, list[str]]:
    """The score, the verdict in words, and the causes found above a note."""
    try:
        found = diagnose(Files(files_of(case, folder, roots), ReadOptions())).diagnosis
    except UserError as refused:
        return SILENT, f"Refused: {refused}", []
    causes = [finding.cause for finding in found.findings if finding.severity != "note"]
    return _score(case, found, causes), clean(verdict(found)), causes


def _score(case: Case, found: Diagnosis, causes: Sequence[str]) -> str:
    match case.state, found.health:
        case "sick", "not_healthy":
            return _score_of_cause(case, causes)
        case "healthy", "not_healthy":
            return BORDERLINE if set(causes) <= set(case.also) else ALARM
        case "cannot_tell", "not_healthy":
            return ALARM
        case "sick" | "cannot_tell", "healthy":
            return ACQUITTED
        case "sick", "not_judged":
            return SILENT
    return RIGHT if (case.state == "healthy") is (found.health == "healthy") else SILENT


def _score_of_cause(case: Case, causes: Sequence[str]) -> str:
    """The score of what is said first of what is sick, where something is."""
    if set(case.never) & set(causes):
        return CAUSE
    if {causes[0], NEAREST.get(causes[0])} & set(case.first):
        return RIGHT
    return HONEST if causes[0] == UNEXPLAINED else CAUSE


def _sums(scored: Sequence[tuple[Case, str]]) -> list[str]:
    lines = [
        "",
        "| cases | number | right | honest | wrong cause | false alarm | borderline | no verdict | false healthy |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    groups = [(state, [score for case, score in scored if case.state == state]) for state in STATES]
    groups.append(("sick, host alone", [score for case, score in scored if case.state == "sick" and case.host_only]))
    groups.append(("all", [score for _, score in scored]))
    for name, scores in groups:
        count = Counter(scores)
        sums = [count[kind] for kind in (RIGHT, HONEST, CAUSE, ALARM, BORDERLINE, SILENT, ACQUITTED)]
        lines.append(f"| {name} | {len(scores)} | {' | '.join(map(str, sums))} |")
    return lines


def _page(told: Sequence[tuple[Case, str, str, list[str]]], about: Sequence[str]) -> str:
    lines = [
        about[0],
        "",
        f"Made on {datetime.now(UTC):%Y-%m-%d} by `{about[1]}`; do not edit.",
        *about[2:],
        "",
        "*Right*: of what is sick, a cause first that the expert accepts; of what is healthy, nothing above a note; of",
        "what cannot be told, that it cannot. *Borderline* are alarms about the healthy that the expert calls true.",
        "*Honest* is a wait of the sick that no cause explains, named first with what to collect: it never counts as",
        "right.",
        "*No verdict* is said where nothing could be judged. *False healthy* is the worst. A cause that was made after",
        f"the expert's line counts as the nearest that he named: {_nearest()}.",
        *_sums([(case, score) for case, score, *_ in told]),
        "",
        "| case | state | the expert | doctord | |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {case.name} | {case.state} | {_cell(case.says)} | {_cell(words)} | {score} |"
        for case, score, words, _ in told
    ]
    return "\n".join(lines) + "\n"


def _nearest() -> str:
    return ", ".join(f"`{made}` as `{named}`" for made, named in NEAREST.items())


def _cell(text: str) -> str:
    return re.sub(r"([|<>*_`\[\]])", r"\\\1", text)


if __name__ == "__main__":
    sys.exit(main())
