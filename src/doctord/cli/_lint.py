"""What `doctord lint` prints, and its exit status."""

import json
from importlib.metadata import version
from typing import Literal, TypeAlias

from doctord.lint.engine import Examined
from doctord.lint.remark import Severity
from doctord.printable import json_text
from doctord.report import lint_document, lint_junit, lint_sarif, lint_terminal

Form: TypeAlias = Literal["text", "json", "sarif", "junit"]


def printed(examined: Examined, form: Form) -> str:
    """The examination in one of the forms."""
    match form:
        case "json":
            return json_text(lint_document.document(examined))
        case "sarif":
            return json.dumps(lint_sarif.document(examined, version("doctord")), indent=2)
        case "junit":
            return lint_junit.render(examined)
        case _:
            return lint_terminal.render(examined)


def status(examined: Examined, servers: int) -> int:
    """The exit status: 1 when something is worse than a note, 2 when fewer servers answered than the user named."""
    if examined.worst is not None and examined.worst > Severity.NOTE:
        return 1
    return 0 if len(examined.servers) >= servers else 2
