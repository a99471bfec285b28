"""A study in the two forms that `show` asks for."""

from doctord.report.study.document import document
from doctord.report.study.terminal import render

__all__ = ["document", "render"]
