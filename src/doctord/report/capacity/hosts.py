"""Documents and pages of several hosts, which follow each other, the worst first."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rich.text import Text

from doctord.report.lines import hanging, heading, printed
from doctord.report.wording import each_for_itself

Found = TypeVar("Found")
NOT_NAMED = "host not named"


def document_of(documents: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The document of the first host, with its name as `host`; those of the other hosts stand in `others`."""
    first, *others = [{**document, "host": host or None, "others": []} for host, document in documents]
    return {**first, "others": others}


def render(
    found: Sequence[tuple[str, Found]],
    page: Callable[[Found], str],
    unjudged: Sequence[str] = (),
    width: int | None = None,
    *,
    colour: bool | None = None,
) -> str:
    """The page of each host, under its name where there are several, and who of them could not be judged above."""
    if len(found) == 1:
        return page(found[0][1])
    told = Text(each_for_itself(f"{len(found)} hosts", [host or NOT_NAMED for host in unjudged]), style="bold")
    lines = [printed(lambda columns: hanging("", told, columns), width, colour=colour)]
    for number, (host, one) in enumerate(found, 1):
        title, whose = f"{number} of {len(found)}", host or NOT_NAMED
        lines.append(printed(lambda columns: heading(title, columns, whose), width, colour=colour))  # noqa: B023
        lines.append(page(one))
    return "\n".join(lines)
