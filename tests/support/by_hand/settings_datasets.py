"""Datasets of settings, written out by hand for the tests of rules."""

from typing import Any

from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from doctord.lint.violation import Violation

GIB = 1 << 30
HOST = "db1"


def dataset(component: str, settings: dict[str, object], *, db: str | None = None, **tables: Any) -> Dataset:
    """A dataset with these settings in force, and rows of other tables as `Dataset.from_rows` takes them."""
    rows = [
        {
            "host": HOST,
            "component": component,
            "db": db,
            "name": name,
            "value": str(value),
            "source": "configuration file",
        }
        for name, value in settings.items()
    ]
    return Dataset.from_rows(setting=[*rows, *tables.pop("setting", [])], **tables)


def machine(memory_bytes: int = 16 * GIB, cpus: int = 8, **memory: object) -> dict[str, Any]:
    """Rows of `memory` and `cpu` of a machine, for `dataset(..., **machine())`."""
    return {
        "memory": [{"host": HOST, "total_bytes": memory_bytes, **memory}],
        "cpu": [{"host": HOST, "interval_s": 1.0, "cpu": number} for number in range(cpus)],
    }


def violations(held: Dataset) -> dict[str, Violation]:
    """What the rules say of a dataset, by the rule's name."""
    return {violation.rule: violation for violation in engine.examine(held).violations}
