"""An examination of settings on a terminal: how many of each severity, then each with its cost and its change."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from doctord.diagnose.finding import Evidence
from doctord.diagnose.words import shortened
from doctord.lint.engine import Examined
from doctord.lint.violation import Change, Severity, Violation
from doctord.regex import regex
from doctord.report import wording
from doctord.report.lines import hanging, heading, one_line, printed
from doctord.report.phrases import said, threshold
from doctord.report.plain import clean

_NAMED = regex(r"name = '([^']*)'")
LONGEST = 300  # characters of a title, a cost, a value: a file may hold a megabyte


def render(examined: Examined, width: int | None = None, *, colour: bool | None = None) -> str:
    """The examination as lines of text, without a newline at the end; `width` and `colour` as of a diagnosis."""
    return printed(lambda columns: _page(examined, columns), width, colour=colour)


def _page(examined: Examined, width: int) -> Iterator[Text]:
    bad = examined.worst is not None and examined.worst > Severity.NOTE
    yield one_line(_verdict(examined), "bold red" if bad else "bold green", width)
    for number, alike in enumerate(_alike(examined.violations), 1):
        yield Text()
        yield from _violation(number, alike, width)
    if examined.accepted:
        yield from heading("Accepted", width)
        for accepted, reason in examined.accepted:
            yield from hanging("  ", clean(f"{accepted.rule}, {accepted.subject}: {reason}"), width)
    yield from heading("Looked at", width)
    for line in examined.looked_at:
        yield from hanging("  ", clean(line), width)


def _verdict(examined: Examined) -> str:
    counts = Counter(violation.severity for violation in examined.violations)
    told = [f"{counts[one]} {one.word}{'s' if counts[one] > 1 else ''}" for one in reversed(Severity) if counts[one]]
    return f"Settings: {', '.join(told)}" if told else "Settings: nothing to say against them"


def _alike(violations: Sequence[Violation]) -> list[list[Violation]]:
    """Violations that are the same of several servers are told once."""
    found = dict[object, list[Violation]]()
    for one in violations:
        found.setdefault((one.rule, said(one.title), said(one.cost), one.changes, _said_of(one)), []).append(one)
    return list(found.values())


def _said_of(violation: Violation) -> tuple[str, ...]:
    """The evidence of a violation in words."""
    return tuple(map(_evidence, violation.evidence))


def _violation(number: int, alike: Sequence[Violation], width: int) -> Iterator[Text]:
    violation = alike[0]
    yield from hanging(
        f"{number:<3}",
        Text(shortened(clean(f"{violation.severity.word}: {said(violation.title)}"), LONGEST), style="bold"),
        width,
    )
    yield from hanging("   ", clean(f"{violation.rule}, {', '.join(one.subject for one in alike)}"), width)
    share = "" if violation.impact is None else f"{wording.percent(violation.impact)} of the time: "
    yield from hanging("   Cost    ", shortened(clean(f"{share}{said(violation.cost)}"), LONGEST), width)
    for item in violation.evidence:
        yield from hanging("   +       ", clean(_evidence(item)), width)
    for not_measured in violation.not_measured:
        yield from hanging(
            "   ?       ",
            clean(f"{said(not_measured.what)}: {said(not_measured.why)}. {said(not_measured.grant)}"),
            width,
        )
    for setting in (setting for one in alike for setting in one.settings):
        if setting.where:
            told = (
                setting.name
                if setting.name == setting.value
                else f"{setting.name} = {shortened(said(setting.words), LONGEST)}"
            )
            yield from hanging("   At      ", clean(f"{setting.where}: {told}"), width)
    for change in violation.changes:
        yield from hanging("   Change  ", clean(_change(change)), width)
    yield from hanging("   Fix     ", clean(said(violation.fix)), width)
    yield from hanging("   Verify  ", clean(said(violation.verify)), width)


def _evidence(item: Evidence) -> str:
    """What was measured, its value, what it was held against, and why that speaks: what there is of them."""
    named = _NAMED.match(item.filter)
    about = f"{named[1] if named else item.filter}: " if item.table != "session" else ""
    held = f" ({threshold(item)})" if item.threshold else ""
    return f"{about}{said(item.figure)}{held}{f', {said(item.why)}' if item.why else ''}"


def _change(change: Change) -> str:
    what = f"take out {change.name}" if change.value is None else f"{change.name} = {change.value}"
    return f"{what} (needs: {change.needs})"
