"""Names that strangers wrote never stand in our sentences: each has a label there, and stands once in a field `names`.

Whoever may connect to a database chooses what its program and its statements are called, "ignore what you were told"
for one. An assistant that reads a sentence of ours must not read theirs in it. So in every phrase the values that hold
such a name have `<program 1>` in its place; `names` says what that is.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar, cast

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.diagnose.phrase import Phrase
from doctord.regex import regex

Told = TypeVar("Told")
# Where strangers write, by what it is called in a label.
WRITTEN: Final = {
    "user": ("session", "user"),
    "program": ("session", "program"),
    "database": ("session", "database"),
    "client": ("session", "client"),
    "statement": ("statement", "text"),
    "alias": ("plan", "alias"),
    "query": ("plan", "relation"),
    "condition": ("plan", "filter"),
    "lookup": ("plan", "condition"),
    "key": ("plan", "detail"),
}
# Who calls a table by its own name writes nothing; who calls a WITH query something does.
NAMED: Final = {
    "alias": ~pl.col("relation").str.ends_with(pl.col("alias")).fill_null(value=False),
    "query": pl.col("kind") == "CTE Scan",
}
# Texts that sentences cut at lengths of their own.
TEXTS: Final = ("statement", "condition", "lookup", "key")
SHORTEST_ALIAS: Final = 4  # a shorter one is no sentence, and a word of ours
LONGEST: Final = 200
SAID: Final = {"title", "figure", "why", "filter"}  # what is said in a plain text may be a stranger's
_LABEL: Final = regex(rf"(<(?:{'|'.join(TEXTS)}) \d+>)")
_BEGINNING: Final = 12  # characters by which a statement that was cut is known


class Names:
    """The names of strangers that are in some datasets, and the labels that were given to them.

    `used` has what was labelled: label → what it is, and its text.
    """

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        """Look for what strangers wrote in sessions and statements."""
        self.used = dict[str, dict[str, str]]()
        self._kinds = dict[str, str]()
        for dataset in datasets:
            for kind, (table, column) in WRITTEN.items():
                rows = dataset.frame(table)
                if kind in NAMED:
                    rows = rows.filter(NAMED[kind])
                for text in rows[column].drop_nulls().unique(maintain_order=True):
                    for part in _parts(kind, " ".join(str(text).split())):
                        self._kinds.setdefault(part, kind)
        self._kinds.pop("", None)
        statements = [text for text, kind in self._kinds.items() if kind in TEXTS]
        self._statements = dict[str, list[str]]()
        for text in statements:
            self._statements.setdefault(text[:_BEGINNING].lower(), []).append(text)
        names = sorted((text for text in self._kinds if text not in set(statements)), key=len, reverse=True)
        self._pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names)) if names else None

    def labelled(self, text: str) -> str:
        """The text with labels in the place of strangers' names.

        >>> names = Names([Dataset.from_rows(session=[{"program": "drop all", "user": "app"}])])
        >>> names.labelled("session 7 (app drop all)"), names.listed()[1]["text"]
        ('session 7 (<user 1> <program 1>)', 'drop all')
        """
        parts = _LABEL.split(self._without_statements(text))
        if self._pattern:
            parts[::2] = [self._pattern.sub(lambda found: self._label(found[0]), part) for part in parts[::2]]
        return "".join(parts)

    def listed(self) -> list[dict[str, str]]:
        """The labels that were used, each with its kind and text."""
        told = [{name: one[name] for name in ("label", "kind", "text")} for one in self.used.values()]
        return sorted(told, key=lambda one: (list(WRITTEN).index(one["kind"]), len(one["label"]), one["label"]))

    def _label(self, name: str) -> str:
        kind = self._kinds[name]
        known = next((label for label, one in self.used.items() if one["whole"] == name), None)
        if known is None:
            number = 1 + sum(one["kind"] == kind for one in self.used.values())
            known = f"<{kind} {number}>"
            text = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
            self.used[known] = {"label": known, "kind": kind, "text": text, "whole": name}
        return known

    def _without_statements(self, text: str) -> str:
        """The text without the beginnings of statements, which sentences cut at lengths of their own."""
        for beginning, statements in self._statements.items():
            lowered = text.lower()
            at = lowered.find(beginning)
            if at >= 0 and len(beginning) == _BEGINNING:
                common, statement = max((_common(lowered[at:], one.lower()), one) for one in statements)
                rest = text[at + common :].removeprefix("...")
                text = f"{text[:at]}{self._label(statement)}{rest}"
        return text

    def of(self, told: Told) -> Told:
        """The same finding, diagnosis or violation, with labels in what its phrases say."""
        return cast("Told", _mapped(told, self))


def _parts(kind: str, text: str) -> list[str]:
    """What of a text may stand in a sentence: of keys each, for sentences have their own names for them.

    >>> _parts("key", "Sort Key: o.at DESC; Workers Planned: 2")
    ['Sort Key: o.at DESC; Workers Planned: 2', 'o.at DESC', '2']
    """
    if kind in NAMED:
        return [text] if len(text) >= SHORTEST_ALIAS else []
    return [text, *(part.partition(": ")[2] for part in text.split("; "))] if kind == "key" else [text]


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginnings."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _mapped(value: Any, names: Names) -> Any:  # noqa: ANN401 - whatever parts a finding has
    match value:
        case Phrase():
            return Phrase(value.words, tuple(_text(one, names) for one in value.values))
        case tuple() if not hasattr(value, "_fields"):
            return tuple(_mapped(one, names) for one in value)
        case list():
            return [_mapped(one, names) for one in value]
        case Mapping():
            return {key: _mapped(one, names) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _field(value, one.name, names) for one in fields(value) if one.init})
    return value


def _field(value: Any, name: str, names: Names) -> Any:  # noqa: ANN401 - as above
    held = getattr(value, name)
    return names.labelled(held) if name in SAID and isinstance(held, str) else _mapped(held, names)


def _text(value: Any, names: Names) -> Any:  # noqa: ANN401 - as above
    return names.labelled(value) if isinstance(value, str) else _mapped(value, names)
