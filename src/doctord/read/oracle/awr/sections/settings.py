"""Parameters: `init.ora Parameters`, and what changed of them between the snapshots."""

from doctord._native import ReportTable
from doctord.read.oracle.awr.report import Report
from doctord.read.oracle.awr.section import ROOT, Section, Special, picked

NAME = ("Parameter Name", "Parameter", "Name")
BEGIN = ("Begin value", "Begin Snap Value", "Period Begin Snap Value")
END = ("End value (if different)", "End value", "End Snap Value", "Period End Snap Value")


def parameters(table: ReportTable, report: Report) -> bool:
    """Rows of `setting` with the value at the end; of a change, an event as well.

    A parameter of several values has them joined. Those of a pluggable database have its name before theirs.
    """
    name, begin, end = table.find(*NAME), table.find(*BEGIN), table.find(*END)
    if name is None or (begin is None and end is None):
        return False
    names = _names(table, name)
    nothing = list[str | None]([None] * len(names))
    first = table.texts(begin) if begin is not None else nothing
    last = table.texts(end) if end is not None else nothing
    instances = _instances(table, report)
    values = dict[tuple[str, str | None], list[str]]()
    for at, key in enumerate(zip(names, instances, strict=True)):
        value = last[at] or first[at]
        if value is not None and key[0]:
            values.setdefault(key, []).append(value)
    row = report.whole.row() | {"interval_s": None, "component": "oracle"}
    row |= {
        "instance": [instance for _, instance in values],
        "name": [parameter for parameter, _ in values],
        "value": [", ".join(parts) for parts in values.values()],
    }
    report.filled.add("setting", len(values), row)
    _changes(report, names, first, last)
    return True


def _names(table: ReportTable, name: int) -> list[str]:
    names = [text or "" for text in table.texts(name)]
    pdb = table.find("PDB Name", "Container Name")
    if pdb is None:
        return names
    return [
        parameter if owner in {None, ROOT} else f"{owner}:{parameter}"
        for owner, parameter in zip(table.texts(pdb), names, strict=True)
    ]


def _instances(table: ReportTable, report: Report) -> list[str | None]:
    column = table.find("I#") if report.spans else None
    if column is None:
        return [report.whole.instance] * len(table)
    spans = report.spans
    return [spans[number].instance if number in spans else None for number in table.texts(column)]


def _changes(report: Report, names: list[str], first: list[str | None], last: list[str | None]) -> None:
    """Where both values are given they differ: that is what the second is given for."""
    changed = [at for at, (old, new) in enumerate(zip(first, last, strict=True)) if old and new and old != new]
    row = report.whole.row() | {
        "kind": "settings change",
        "subject": picked(names, changed),
        "text": [f"{names[at]} was {first[at]}, is {last[at]}" for at in changed],
    }
    report.filled.add("event", len(changed), row)


SECTIONS: tuple[Section, ...] = (Special(r"init\.ora Param|init\.ora Multi-Valued", parameters),)
