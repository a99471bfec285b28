"""A study in the forms that a command asks for."""

from doctord.app.study.study import Study
from doctord.report.study.document import document
from doctord.report.study.terminal import render

__all__ = ["document", "page", "render"]


def page(found: Study) -> str:
    """The same as one HTML file."""
    from doctord.report.study import html  # noqa: PLC0415 - its templates take long to import, and few want a page

    return html.render(found)
