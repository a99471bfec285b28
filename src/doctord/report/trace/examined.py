"""A trace that was examined: a JSON document, and the same to be read on a terminal."""

from typing import Any

from doctord.app.traces.examine import Examined
from doctord.report.trace import document as documents
from doctord.report.trace import terminal


def document(found: Examined) -> dict[str, Any]:
    """What `doctord trace --json` gives: docs/reference/trace.md."""
    return documents.document(found.trace, found.diagnosis, found.comparison, before=found.before)


def render(found: Examined) -> str:
    """The same as lines of text."""
    return terminal.render(found.trace, found.diagnosis, found.comparison)
