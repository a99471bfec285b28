"""The diagnosis on a terminal: the verdict in one line, then findings with figures, where time went, what was seen.

Meant to be read at three in the morning, over a bad line: nothing is wider than the terminal, nothing is said by colour
alone, and a figure never parts from its unit.
"""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from doctord.diagnose.finding import Diagnosis, Evidence, Finding, NotMeasured, TimeShare
from doctord.report import wording
from doctord.report.diagnosis import holders
from doctord.report.lines import hanging, hashes, heading, one_line, printed, table
from doctord.report.phrases import said, threshold
from doctord.report.plain import JOINT, clean

SHARES_SHOWN = 10
MOST_PAGES = 10  # of other servers and times; the overview has all
KEY = "+ speaks for it   - against it   ? could not be seen"


def render(
    diagnosis: Diagnosis,
    width: int | None = None,
    *,
    colour: bool | None = None,
    others: Sequence[Diagnosis] = (),
    known: Sequence[str] = (),
) -> str:
    """The diagnosis as lines of text.

    Args:
        diagnosis: what to show.
        others: those of other servers and times that were judged beside it, which follow it, with an overview above.
        width: columns; null takes the terminal's, or 80 when standard output is none. At least 40 and at most 120
            are used: longer lines are hard to read.
        colour: whether to colour; null asks the terminal and the variable NO_COLOR.
        known: what it resembles of the incidents that are kept, in sentences.

    Returns:
        The text, without a newline at its end.
    """
    return printed(lambda columns: _pages((diagnosis, *others), known, columns), width, colour=colour)


def _pages(diagnoses: Sequence[Diagnosis], known: Sequence[str], width: int) -> Iterator[Text]:
    if len(diagnoses) > 1:
        yield from hanging("", Text(clean(wording.of_several(diagnoses)), style="bold"), width)
        for number, diagnosis in enumerate(diagnoses, 1):
            whose = f"{diagnosis.host}, {wording.interval(diagnosis.since, diagnosis.until)}"
            yield from hanging(f"{number:3}  ", clean(f"{wording.verdict(diagnosis)} ({whose})"), width)
    for number, diagnosis in enumerate(diagnoses[:MOST_PAGES], 1):
        if len(diagnoses) > 1:
            yield from heading(f"{number} of {len(diagnoses)}", width)
        yield from _page(diagnosis, known if number == 1 else (), width)
    if len(diagnoses) > MOST_PAGES:
        yield from heading(f"{len(diagnoses) - MOST_PAGES} more", width)
        yield from hanging("", "Each whole: its files alone, or --json.", width)


def _page(diagnosis: Diagnosis, known: Sequence[str], width: int) -> Iterator[Text]:
    figures = [clean(f"{name} {value}") for name, value in wording.in_header(diagnosis.figures)]
    verdict = clean(wording.verdict(diagnosis))
    while diagnosis.health != "not_healthy" and figures and cell_len(f"{verdict}, {figures[0]}") <= width:
        verdict += f"{', ' if ': ' in verdict else ': '}{figures.pop(0)}"
    yield one_line(verdict, wording.style(diagnosis), width)
    if unanswered := wording.unanswered(diagnosis):
        yield from hanging("", Text(unanswered, style="bold"), width)
    yield from hanging("", f"{diagnosis.host}, {wording.interval(diagnosis.since, diagnosis.until)}", width)
    if figures:
        yield from hanging("", Text(", ".join(figure.replace(" ", JOINT) for figure in figures)), width)
    if head := holders.headline(diagnosis):
        yield from hanging("", clean(head), width)
    if explained := wording.explained(diagnosis):
        yield from hanging("", explained, width)
    yield from findings(diagnosis, width)
    if known:
        yield from heading("Known incidents", width, "evidence, and no cause by itself")
        for sentence in known:
            yield from hanging("", clean(sentence), width)
    yield from _time(diagnosis, width)
    if diagnosis.top:
        yield from heading("Who holds it", width, "shares of the whole; gets: blocks looked at")
        yield from table(holders.NAMES, list(holders.rows(diagnosis)), width)
    if diagnosis.looked_at:
        yield from heading("Looked at", width)
        for line in diagnosis.looked_at:
            yield from hanging("  ", said(line), width)
    if diagnosis.not_measured:
        yield from heading("Could not be seen", width)
        for not_measured in diagnosis.not_measured:
            yield from hanging("? ", _unseen(not_measured), width)


def findings(diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    """The findings, with an overview above many of them."""
    groups = wording.grouped(diagnosis.findings)
    if len(groups) >= wording.OVERVIEW_FROM:
        yield from heading(f"{len(groups)} findings, most important first", width)
        for number, (finding, _) in enumerate(groups, 1):
            share = "" if finding.impact.share is None else wording.percent(finding.impact.share)
            yield from hanging(
                f"{number:3}  {share:>6}  {hashes(finding.impact.share, 8)}  ", said(finding.title), width
            )
    for number, (finding, explained) in enumerate(groups, 1):
        if number == 1:
            yield from heading("Findings", width, KEY)
        else:
            yield Text()
        yield from _finding(number, finding, diagnosis, width)
        for part, symptom in enumerate(explained, 1):
            yield from _symptom(number, part, symptom, diagnosis, width)


def _finding(number: int, finding: Finding, diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    label = f"{number:<3}"
    yield from hanging(label, Text(clean(said(finding.title)), style="bold"), width)
    bar = "" if finding.impact.share is None else f"[{hashes(finding.impact.share, 20, '.')}] "
    cost = f"{wording.impact(finding, diagnosis)}; {wording.confidence(finding)}"
    yield from hanging("   ", f"{bar}{finding.severity}: {cost}", width)
    for sign, items in (("+", finding.for_), ("-", finding.against)):
        for item in items:
            yield from hanging(f"   {sign} ", _evidence(item), width)
    for not_measured in finding.not_measured:
        yield from hanging("   ? ", _unseen(not_measured), width)
    for word, steps in (("Remedy", finding.remedy), ("Verify", finding.verify)):
        for i, step in enumerate(steps):
            yield from hanging(f"   {'' if i else word:<8}", said(step), width)


def _symptom(number: int, part: int, finding: Finding, diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    """A finding that another one explains: its title, its share, and the first figure."""
    text = f"{wording.in_short(finding, diagnosis)}; explained by {number}"
    yield from hanging(f"   {f'{number}.{part}':<5}", text, width)
    for item in finding.for_[:1]:
        yield from hanging("        + ", _evidence(item), width)


def _evidence(item: Evidence) -> Text:
    text = Text(clean(said(item.figure)), style="bold")
    if item.threshold:
        text = Text.assemble(text, f" (threshold{JOINT}{clean(threshold(item))})")
    return Text.assemble(text, f": {clean(said(item.why))}") if item.why else text


def _unseen(item: NotMeasured) -> str:
    grant = f" To see it: {said(item.grant)}" if item.grant else ""
    return f"{said(item.what)}: {said(item.why).rstrip('.?')}.{grant}"


def _time(diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    if not diagnosis.time:
        return
    total = sum(part.seconds_per_second for part in diagnosis.time)
    yield from heading(f"Where {wording.time_of(diagnosis)} went", width, f"{total:.2f} s per second")
    shown = list(diagnosis.time[:SHARES_SHOWN])
    rest = diagnosis.time[SHARES_SHOWN:]
    if rest:
        seconds, share = sum(part.seconds_per_second for part in rest), sum(part.share for part in rest)
        shown.append(TimeShare("the rest", f"{len(rest)} more", seconds, share))
    bar = 20 if width >= 72 else 10 if width >= 56 else 0
    classes = max(len(part.wait_class) for part in shown)
    for part in shown:
        label = f"{wording.percent(part.share):>6}  {hashes(part.share, bar)}  {part.seconds_per_second:6.2f} s/s  "
        yield from hanging(label + f"{clean(part.wait_class):<{classes}}  ", part.event, width)
