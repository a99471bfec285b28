"""Incidents of two published, labelled sets: the interval found, the cause known again, the unknown refused.

    DOCTORD_CORPUS=../shared/corpus .venv/bin/python benchmarks/incidents/labelled_sets.py

DBSherlock (D. Y. Yoon, N. Niu, B. Mozafari, SIGMOD 2016): 50 recordings of MySQL under TPC-C, of ten causes five each,
and 30 of six compounds. One recording of each cause is the teacher, all others are asked, and each of the five is the
teacher once; neither in the teacher nor in who is asked is the interval told. DBPA (S. Huang and others, SIGMOD 2023):
windows of 50 s of MySQL on two machines, of eight faults and of normal time. One machine teaches, the other is asked;
of both the first half of the normal windows is what is usual there. Nothing is drawn by chance, and nothing was fitted
to these sets but the bound above which an incident is said to be alike. Writes docs/reference/incidents-labelled.md.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from sets import DBPA_MACHINES, Recording, Window, dbpa, dbsherlock

from doctord.analyse.incidents.likeness import ALIKE, likeness, mixture
from doctord.analyse.incidents.scan import likeliest
from doctord.analyse.incidents.signature import Signature, mean_of, signature_of

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "incidents-labelled.md"
TURNS: Final = 5
NEAREST: Final = 5


@dataclass(frozen=True, eq=False)
class Asked:
    """A recording with its signature, of the interval that was labelled and of the one that was found."""

    recording: Recording
    labelled: Signature
    found: Signature
    overlap: float


def main() -> None:
    """Measure, and write the page."""
    corpus = Path(os.environ["DOCTORD_CORPUS"])
    recordings = [asked(one) for one in dbsherlock(corpus)]
    single = [one for one in recordings if len(one.recording.causes) == 1]
    compound = [one for one in recordings if len(one.recording.causes) > 1]
    machines = [dbpa(corpus, machine) for machine in DBPA_MACHINES]
    text = "\n".join(
        [*HEAD, *_intervals(recordings), *_known_again(single), *_compounds(single, compound), *_machines(machines)]
    )
    PAGE.write_text(text + "\n")
    print(text)


def asked(recording: Recording) -> Asked:
    """Look for the interval, and take both signatures."""
    found = likeliest(recording.figures) or (0, 1, 0.0)
    begin, end = recording.labelled
    overlap = max(0, min(end, found[1]) - max(begin, found[0]))
    union = (end - begin) + (found[1] - found[0]) - overlap
    return Asked(
        recording,
        signature_of(recording.figures, begin, end),
        signature_of(recording.figures, found[0], found[1]),
        overlap / union,
    )


HEAD: Final = [
    "# Incidents of published sets, known again",
    "",
    "Made by `benchmarks/incidents/labelled_sets.py`; do not edit. What is measured: [incidents](incidents.md).",
    "",
]


def _intervals(recordings: list[Asked]) -> Iterable[str]:
    yield "## DBSherlock: the interval"
    yield ""
    yield "Intersection over union of the interval that is told apart best with the labelled one; five recordings each."
    yield ""
    yield "| cause | least | median | most |"
    yield "|---|---|---|---|"
    for cause, own in _by(recordings, lambda one: " + ".join(one.recording.causes)).items():
        values = [one.overlap for one in own]
        yield f"| {cause} | {min(values):.2f} | {np.median(values):.2f} | {max(values):.2f} |"
    yield f"| mean of all | | {np.mean([one.overlap for one in recordings]):.2f} | |"
    yield ""


def _known_again(single: list[Asked]) -> Iterable[str]:
    yield "## DBSherlock: the cause, with one recording of each as teacher"
    yield ""
    yield "| cause | asked | right, interval labelled | right, interval found | taken for | refused where unknown |"
    yield "|---|---|---|---|---|---|"
    results = {name: [_turn(single, turn, name) for turn in range(TURNS)] for name in ("labelled", "found")}
    causes = sorted({one.recording.causes[0] for one in single})
    for cause in causes:
        cells = []
        taken = Counter[str]()
        for name in ("labelled", "found"):
            own = [got for turn in results[name] for got in turn if got[0] == cause]
            cells.append(f"{sum(got[1] == cause for got in own)}")
            taken.update(got[1] for got in own if got[1] != cause)
        asked_for = [got for turn in results["found"] for got in turn if got[0] == cause]
        refused = sum(got[3] < ALIKE for got in asked_for)
        wrong = ", ".join(f"{other} {count}" for other, count in taken.items())
        yield f"| {cause} | {len(asked_for)} | {cells[0]} | {cells[1]} | {wrong} | {refused} of {len(asked_for)} |"
    yield ""
    for name in ("labelled", "found"):
        got = [one for turn in results[name] for one in turn]
        right = sum(one[0] == one[1] for one in got)
        area = area_under([one[2] for one in got], [one[3] for one in got])
        accepted = sum(one[2] >= ALIKE for one in got)
        yield (
            f"Interval {name}: **{right} of {len(got)}** right ({100 * right / len(got):.1f} %; published with the "
            f"interval given: 94.9 %). Known against unknown causes (the same asked with their cause left out of the "
            f"library): area under the ROC curve {area:.3f}; {accepted} of {len(got)} known ones pass {ALIKE}."
        )
        yield ""


def _turn(single: list[Asked], turn: int, name: str) -> list[tuple[str, str, float, float]]:
    """Of each that is asked: its cause, the cause named, how alike that is, and how alike the best other cause is."""
    teachers = [own[turn] for own in _by(single, lambda one: one.recording.causes[0]).values()]
    library = [_signature(one, name) for one in teachers]
    found = []
    for one in single:
        if one in teachers:
            continue
        ranked = likeness(_signature(one, name), library)
        cause = one.recording.causes[0]
        causes = [teachers[known.place].recording.causes[0] for known in ranked]
        others = max((known.alike for known, it in zip(ranked, causes, strict=True) if it != cause), default=0.0)
        own = max((known.alike for known, it in zip(ranked, causes, strict=True) if it == cause), default=0.0)
        found.append((cause, causes[0], max(own, others), others))
    return found


def _compounds(single: list[Asked], compound: list[Asked]) -> Iterable[str]:
    yield "## DBSherlock: several causes at once"
    yield ""
    yield "The library has one signature of each cause, the mean of its five; a compound was never taught."
    yield ""
    yield "| causes | named, interval labelled | named, interval found | named beside them |"
    yield "|---|---|---|---|"
    recalls = dict[str, list[float]](labelled=[], found=[])
    for title, own in _by(compound, lambda one: " + ".join(one.recording.causes)).items():
        cells, beside = [], Counter[str]()
        for name in ("labelled", "found"):
            causes = _by(single, lambda one: one.recording.causes[0])
            library = [mean_of([_signature(one, name) for one in known]) for known in causes.values()]
            hits = 0
            for one in own:
                named = {list(causes)[place] for place, _ in mixture(_signature(one, name), library).parts}
                hits += len(named & set(one.recording.causes))
                recalls[name].append(len(named & set(one.recording.causes)) / len(one.recording.causes))
                beside.update(named - set(one.recording.causes))
            cells.append(f"{hits} of {len(own) * len(own[0].recording.causes)}")
        told = ", ".join(f"{cause} {count}" for cause, count in beside.most_common())
        yield f"| {title} | {cells[0]} | {cells[1]} | {told} |"
    yield ""
    yield "Recall: " + ", ".join(f"interval {name} {np.mean(values):.2f}" for name, values in recalls.items()) + "."
    yield ""


def _machines(machines: list[list[Window]]) -> Iterable[str]:
    yield "## DBPA: a machine that was never seen"
    yield ""
    yield f"Each window is named by the vote of the {NEAREST} most alike of the other machine."
    yield ""
    yield "| cause | " + " | ".join(f"asked of {machine}: right, F1" for machine in DBPA_MACHINES) + " |"
    yield "|---|---|---|"
    results = [_named(machines[1 - number], machines[number]) for number in range(2)]
    for cause in sorted({one.cause for one in machines[0]}):
        cells = []
        for result in results:
            own = [named for known, named in result if known == cause]
            cells.append(f"{sum(named == cause for named in own)} of {len(own)}, {_f1(result, cause):.2f}")
        yield f"| {cause} | {' | '.join(cells)} |"
    for result, machine in zip(results, DBPA_MACHINES, strict=True):
        accuracy = np.mean([known == named for known, named in result])
        macro = np.mean([_f1(result, cause) for cause in {known for known, _ in result}])
        yield ""
        yield (
            f"Of {machine}: accuracy {accuracy:.3f}, macro-F1 {macro:.3f} (a random forest on z-scores, as the issue "
            "gives it: 0.605 and 0.44)."
        )


def _named(teachers: list[Window], asked_for: list[Window]) -> list[tuple[str, str]]:
    names = [name for name in teachers[0].signature if name in asked_for[0].signature]
    known = np.array([[one.signature[name].higher for name in names] for one in teachers])
    found = []
    for one in asked_for:
        own = np.array([one.signature[name].higher for name in names])
        nearest = np.argsort(((known - own) ** 2).sum(axis=1), kind="stable")[:NEAREST]
        votes = Counter(teachers[place].cause for place in nearest)
        found.append((one.cause, votes.most_common(1)[0][0]))
    return found


def _f1(result: list[tuple[str, str]], cause: str) -> float:
    right = sum(known == named == cause for known, named in result)
    return 2 * right / max(1, sum(known == cause for known, _ in result) + sum(named == cause for _, named in result))


def _signature(one: Asked, name: str) -> Signature:
    return one.labelled if name == "labelled" else one.found


def _by(asked_for: list[Asked], key: Callable[[Asked], str]) -> Mapping[str, list[Asked]]:
    found = dict[str, list[Asked]]()
    for one in asked_for:
        found.setdefault(key(one), []).append(one)
    return found


def area_under(above: list[float], below: list[float]) -> float:
    """Area under the ROC curve: how often one of the first is above one of the second."""
    ranks = pl.Series([*above, *below]).rank().to_numpy()[: len(above)]
    return float((ranks.sum() - len(above) * (len(above) + 1) / 2) / (len(above) * len(below)))


if __name__ == "__main__":
    main()
