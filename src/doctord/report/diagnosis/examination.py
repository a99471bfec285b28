"""An examination of one or several servers and times in each of its forms."""

from typing import Any

from doctord.app.diagnose import Examination
from doctord.report import incidents, plain, wording
from doctord.report.diagnosis import document as documents


def document(found: Examination) -> dict[str, Any]:
    """What `doctord diagnose --json` gives: docs/reference/json.md."""
    told = documents.document(found.diagnosis, [other.diagnosis for other in found.others])
    return {**told, "resembles": incidents.resemblance_document(found.resemblance)}


def render(found: Examination) -> str:
    """The same as lines of text."""
    from doctord.report.diagnosis import terminal  # noqa: PLC0415 - a document needs nothing of what draws lines

    known = list(incidents.resemblance_lines(found.resemblance)) if found.resemblance else []
    return terminal.render(found.diagnosis, others=[other.diagnosis for other in found.others], known=known)


def page(found: Examination) -> str:
    """The same as one HTML file, with plots of the evidence."""
    from doctord.report.diagnosis import html  # noqa: PLC0415 - its templates take long to import, and few want a page

    return html.render(found.diagnosis, found.seen.dataset, [other.diagnosis for other in found.others])


def brief(found: Examination) -> str:
    """The verdict in a line; of several servers and times with a line on all of them before it."""
    diagnoses = [found.diagnosis, *(other.diagnosis for other in found.others)]
    several = [wording.of_several(diagnoses)] if found.others else []
    return "\n".join(map(plain.clean, (*several, wording.verdict(found.diagnosis))))
