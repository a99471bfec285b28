"""The files that a trace is written to: a page, the timeline, and flame-graph input."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from doctord.analyse.traces.calls_compared import Comparison
from doctord.dataset.calltrace import Trace
from doctord.diagnose.finding import Diagnosis
from doctord.errors import UserError
from doctord.report.trace import folded, timeline


def contents(
    files: Sequence[Path | None], trace: Trace, diagnosis: Diagnosis, comparison: Comparison | None = None
) -> Iterator[tuple[Path, str]]:
    """Each file with what is to be written to it.

    Args:
        files: The page, the timeline as SVG, stacks for flame graphs; null is left out.
        trace: What is shown; the second one of a comparison.
        diagnosis: Its findings.
        comparison: What changed from an earlier trace.

    Raises:
        UserError: the timeline is wanted, and there is none.
    """
    html, svg, stacks = files
    if html:
        from doctord.report.trace.html import render  # noqa: PLC0415 - templates take as long to load as a trace to read

        yield html, render(trace, diagnosis, comparison)
    if svg:
        drawn = trace["timeline"]
        if drawn is None:
            raise UserError("there is no timeline: the trace holds no whole pass of a loop", "leave out --svg")
        yield svg, timeline.svg(drawn, alone=True)
    if stacks:
        yield stacks, folded.render(trace)
