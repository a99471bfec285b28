"""A call trace as one HTML file that needs nothing else, and its other forms for files: SVG and folded stacks."""

from markupsafe import Markup

from doctord.analyse.traces.calls_compared import Comparison
from doctord.dataset.calltrace import Trace
from doctord.diagnose.finding import Diagnosis
from doctord.diagnose.words import who
from doctord.report import wording
from doctord.report.diagnosis.html import environment
from doctord.report.trace import timeline
from doctord.report.trace import wording as words
from doctord.report.trace.tables import changes, path, tables, waits
from doctord.units import in_time


def render(trace: Trace, diagnosis: Diagnosis, comparison: Comparison | None = None) -> str:
    """The report of a trace; the second one of a comparison."""
    pass_drawn, loop = trace["timeline"], words.sure_loop(trace)
    drawing = Markup(timeline.svg(pass_drawn)) if pass_drawn else None  # noqa: S704 - the serialiser of XML escaped it
    return (
        environment()
        .get_template("trace/page.html.j2")
        .render(
            diagnosis=diagnosis,
            verdict=words.verdict(trace, diagnosis),
            about=words.about(trace["trace"]),
            groups=wording.grouped(diagnosis.findings),
            overview_from=wording.OVERVIEW_FROM,
            gain=words.gain(comparison) if comparison else None,
            changed=changes(comparison) if comparison else None,
            unchanged=comparison.unchanged if comparison else 0,
            service=loop,
            sentences=list(words.sentences(loop)) if loop else [],
            loop_tables=[waits(loop), path(loop)] if loop else [],
            drawing=drawing,
            drawn=pass_drawn,
            tables=tables(trace),
            not_measured=list(words.not_measured(trace, diagnosis)),
            length=in_time,
            who=who,
            wording=wording,
        )
    )
