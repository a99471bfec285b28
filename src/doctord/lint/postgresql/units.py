"""Units that PostgreSQL does not know."""

from collections.abc import Iterator
from typing import Final

from doctord.dataset.catalogue import catalogue
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation
from doctord.regex import regex
from doctord.units import one_of, setting_number

UNITS: Final = {"size": ("B", "kB", "MB", "GB", "TB"), "time": ("us", "ms", "s", "min", "h", "d")}
WITH_UNIT: Final = regex(r"\s*[-+]?\d+(?:\.\d+)?\s*([A-Za-z]+)\s*")


@rule("postgresql")
def unit_refused(subject: Subject) -> Iterator[Violation]:
    """A value has a unit that PostgreSQL refuses.

    Why: units are case-sensitive: 8gb, 8G and 8Gb are no sizes; the server does not start, and a reload changes nothing
        at all.
    Evidence: the value's unit against those that there are.
    Fix: B, kB, MB, GB, TB for sizes; us, ms, s, min, h, d for times.
    Verify: SELECT * FROM pg_file_settings WHERE error IS NOT NULL.
    Source: PostgreSQL documentation, Parameter Names and Values.
    """
    for setting in subject.rows:
        known, found = catalogue("postgresql").get(setting.name), WITH_UNIT.fullmatch(setting.value)
        units = UNITS.get(known.kind) if known else None
        if setting.is_running or not units or not found or found[1] in units or setting.number is None:
            continue  # what is no number in anybody's units, value_invalid names
        meant = next((unit for unit in units if one_of(unit) == setting_number(f"1{found[1]}", unit)), None)
        number = setting.value.replace(found[1], "").strip()
        yield subject.violation(
            f"{setting.name} = {setting.value}: there is no unit {found[1]}",
            settings=[setting],
            cost="the server does not start; a running one takes no change of the whole file",
            severity=Severity.ERROR,
            changes=[subject.change(setting.name, f"{number}{meant}")] if meant else [],
        )
