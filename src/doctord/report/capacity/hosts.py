"""Documents and pages of several hosts, which follow each other, the worst first."""

from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text

from doctord.app.sources.hosts import Found, Hosts
from doctord.report.lines import hanging, heading, printed
from doctord.report.wording import each_for_itself

NOT_NAMED = "host not named"


def document(found: Hosts[Found], document_of: Callable[[Found], Mapping[str, Any]]) -> dict[str, Any]:
    """The document of the first host, with its name as `host`; those of the other hosts stand in `others`."""
    first, *others = [{**document_of(one), "host": host or None, "others": []} for host, one in found.each]
    return {**first, "others": others}


def render(
    found: Hosts[Found],
    page: Callable[[Found], str],
    width: int | None = None,
    *,
    colour: bool | None = None,
) -> str:
    """The page of each host, under its name where there are several, and who of them could not be judged above."""
    if len(found.each) == 1:
        return page(found.each[0][1])
    unjudged = [host or NOT_NAMED for host in found.unjudged]
    told = Text(each_for_itself(f"{len(found.each)} hosts", unjudged), style="bold")
    lines = [printed(lambda columns: hanging("", told, columns), width, colour=colour)]
    for number, (host, one) in enumerate(found.each, 1):
        title, whose = f"{number} of {len(found.each)}", host or NOT_NAMED
        lines.append(printed(lambda columns: heading(title, columns, whose), width, colour=colour))  # noqa: B023
        lines.append(page(one))
    return "\n".join(lines)
