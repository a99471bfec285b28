"""An examination of settings in each of its forms."""

import json
from importlib.metadata import version
from typing import Literal, TypeAlias

from doctord.lint.engine import Examined
from doctord.printable import json_text
from doctord.report.lint import document, terminal
from doctord.report.lint import junit as lint_junit
from doctord.report.lint import sarif as lint_sarif

Form: TypeAlias = Literal["text", "json", "sarif", "junit"]


def written(examined: Examined, form: Form) -> str:
    """The examination in one of the forms."""
    match form:
        case "json":
            return json_text(document.document(examined))
        case "sarif":
            return json.dumps(lint_sarif.document(examined, version("doctord")), indent=2)
        case "junit":
            return lint_junit.render(examined)
        case _:
            return terminal.render(examined)
