"""An examination of settings on a terminal: how many of each severity, then each with its cost and its change."""

from collections import Counter
from collections.abc import Iterator

from rich.text import Text

from doctord.diagnose.words import shortened
from doctord.lint.engine import Examined
from doctord.lint.violation import Change, Severity, Violation
from doctord.report import wording
from doctord.report.lines import hanging, heading, one_line, printed
from doctord.report.phrases import said, threshold
from doctord.report.wording import clean

LONGEST = 300  # characters of a title, a cost, a value: a file may hold a megabyte


def render(examined: Examined, width: int | None = None, *, colour: bool | None = None) -> str:
    """The examination as lines of text, without a newline at the end; `width` and `colour` as of a diagnosis."""
    return printed(lambda columns: _page(examined, columns), width, colour=colour)


def _page(examined: Examined, width: int) -> Iterator[Text]:
    bad = examined.worst is not None and examined.worst > Severity.NOTE
    yield one_line(_verdict(examined), "bold red" if bad else "bold green", width)
    for number, violation in enumerate(examined.violations, 1):
        yield Text()
        yield from _violation(number, violation, width)
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


def _violation(number: int, violation: Violation, width: int) -> Iterator[Text]:
    yield from hanging(
        f"{number:<3}",
        Text(shortened(clean(f"{violation.severity.word}: {violation.title}"), LONGEST), style="bold"),
        width,
    )
    yield from hanging("   ", clean(f"{violation.rule}, {violation.subject}"), width)
    share = "" if violation.impact is None else f"{wording.percent(violation.impact)} of the time: "
    yield from hanging("   Cost    ", shortened(clean(f"{share}{violation.cost}"), LONGEST), width)
    for item in violation.evidence:
        yield from hanging("   +       ", clean(f"{said(item.figure)} ({threshold(item)}): {said(item.why)}"), width)
    for not_measured in violation.not_measured:
        yield from hanging(
            "   ?       ",
            clean(f"{said(not_measured.what)}: {said(not_measured.why)}. {said(not_measured.grant)}"),
            width,
        )
    for setting in violation.settings:
        if setting.where:
            told = (
                setting.name
                if setting.name == setting.value
                else f"{setting.name} = {shortened(setting.words, LONGEST)}"
            )
            yield from hanging("   At      ", clean(f"{setting.where}: {told}"), width)
    for change in violation.changes:
        yield from hanging("   Change  ", clean(_change(change)), width)
    yield from hanging("   Fix     ", clean(violation.fix), width)
    yield from hanging("   Verify  ", clean(violation.verify), width)


def _change(change: Change) -> str:
    what = f"take out {change.name}" if change.value is None else f"{change.name} = {change.value}"
    return f"{what} (needs: {change.needs})"
