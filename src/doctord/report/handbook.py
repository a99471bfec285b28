"""Pages on causes, rules and tables in Markdown, made of what is documented where each is declared."""

from collections.abc import Mapping
from typing import Protocol

from doctord.dataset.tables import TABLES
from doctord.diagnose import engine as causes_known  # noqa: F401 - it registers all of them
from doctord.diagnose.cause import CAUSES
from doctord.lint import engine as rules_known  # noqa: F401 - as above
from doctord.lint.rule import RULES


class _Documented(Protocol):
    """A cause or a rule."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def sections(self) -> dict[str, str]: ...


def causes() -> str:
    """Every cause, a line each."""
    return _list(CAUSES)


def rules() -> str:
    """Every rule, a line each."""
    return _list(RULES)


def tables() -> str:
    """Every table, a line each."""
    return "\n".join(f"- `{name}`: {table.row}" for name, table in TABLES.items()) + "\n"


def cause(name: str) -> str | None:
    """The page of a cause; null where there is none of that name."""
    return _page(CAUSES.get(name))


def rule(name: str) -> str | None:
    """The page of a rule, `component/function`; null where there is none of that name."""
    return _page(RULES.get(name))


def table(name: str) -> str | None:
    """The columns of a table; null where there is none of that name."""
    if name not in TABLES:
        return None
    columns = "\n".join(f"- `{one.name}` ({one.type}): {one.doc}" for one in TABLES[name].columns)
    return f"# {name}\n\nA row is {TABLES[name].row}.\n\n{columns}\n"


def _list(known: Mapping[str, _Documented]) -> str:
    return "\n".join(f"- `{name}`: {' '.join(known[name].summary.split())}" for name in sorted(known)) + "\n"


def _page(known: _Documented | None) -> str | None:
    if known is None:
        return None
    sections = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in known.sections.items())
    return f"# {known.name}\n\n{' '.join(known.summary.split())}\n\n{sections}\n"
