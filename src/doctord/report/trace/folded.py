"""A trace as flame-graph tools take it."""

from doctord.dataset.calltrace import Trace
from doctord.report import plain


def render(trace: Trace) -> str:
    """Time by process and call, one stack a line with its microseconds.

    The format is that of B. Gregg's flamegraph.pl (2011): frames from the outermost on, separated by semicolons.
    """
    return "".join(f"{plain.clean(stack)} {microseconds}\n" for stack, microseconds in trace["folded"].items())
