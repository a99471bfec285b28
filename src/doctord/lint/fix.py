"""What fixes violations, as text: changed lines of the files that were read, and drop-ins for what stands in no file.

Every changed line keeps the old one above it as a comment, with the reason.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final, TypeAlias

from doctord.diagnose.phrase import Words
from doctord.lint.setting import Setting
from doctord.lint.violation import Change, Violation
from doctord.regex import regex

# Makes text of a title, as `report.phrases.said` does.
Said: TypeAlias = Callable[[Words], str]

SQL: Final = "doctord-oracle.sql"
UDEV: Final = "60-doctord-block.rules"
# Name of the drop-in, its first lines, and where it belongs.
DROP_INS: Final = {
    "postgresql": ("doctord-postgresql.conf", "# For a folder that include_dir names; else append to postgresql.conf."),
    "mysql": ("doctord-mysql.cnf", "# For a folder that !includedir names, such as /etc/mysql/conf.d.\n[mysqld]"),
    "kernel": ("60-doctord-sysctl.conf", "# For /etc/sysctl.d; then `sysctl --system`."),
    "oracle": (SQL, "-- For a session with ALTER SYSTEM."),
    "block": (UDEV, "# For /etc/udev/rules.d; then `udevadm control --reload && udevadm trigger`."),
}
BLOCK: Final = regex(r"block\.([^.]+)\.(\w+)")
GOES_ON: Final = regex(r"[,\\(]\s*$")


@dataclass(frozen=True, slots=True)
class Edited:
    """A file before and after; `before` is empty of one that is new."""

    name: str
    before: str
    after: str

    def patch(self) -> str:
        """The difference, as `patch -p0` takes it."""
        old = self.name if self.before else "/dev/null"
        lines = unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), old, self.name
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def wanted(violations: Sequence[Violation]) -> dict[tuple[str, str, str], tuple[Violation, Change]]:
    """The changes by subject, component and name; where two disagree, that of the worse violation."""
    found: dict[tuple[str, str, str], tuple[Violation, Change]] = {}
    for violation in sorted(violations, key=lambda one: -one.severity):
        for change in violation.changes:
            found.setdefault((violation.subject, change.component, change.name), (violation, change))
    return found


def files_of(violations: Sequence[Violation]) -> set[str]:
    """The files that hold a setting to be changed."""
    held = (_place(violation, change) for violation, change in wanted(violations).values())
    return {place.file for place in held if place and place.file}


def fixed(violations: Sequence[Violation], texts: Mapping[str, str], said: Said) -> tuple[list[Edited], list[Edited]]:
    """The changed files, and the drop-ins for what none of these texts has.

    Args:
        violations: what is to be fixed.
        texts: content of the files that could be read, by name.
        said: makes text of a title, which stands as a comment beside each change.
    """
    lines = {name: text.splitlines(keepends=True) for name, text in texts.items()}
    left = list[tuple[Violation, Change]]()
    for violation, change in wanted(violations).values():
        place = _place(violation, change)
        if place is None or not _replaced(lines, place, change, said(violation.title)):
            left.append((violation, change))
    edited = [Edited(name, text, "".join(lines[name])) for name, text in texts.items() if text != "".join(lines[name])]
    return edited, list(_drop_ins(left, said))


def _place(violation: Violation, change: Change) -> Setting | None:
    """Where the setting to be changed stands."""
    return next((one for one in violation.settings if one.name == change.name and one.file and one.line), None)


def _replaced(lines: dict[str, list[str]], place: Setting, change: Change, title: str) -> bool:
    """Whether the line was where the setting was read, and stands changed now."""
    held = lines.get(place.file or "")
    number = (place.line or 0) - 1
    word = _keyword(change)
    if held is None or number >= len(held) or word.lower() not in held[number].lower().replace("-", "_"):
        return False
    old = held[number].rstrip("\r\n")
    if GOES_ON.search(old):
        return False
    indent = old[: len(old) - len(old.lstrip())]
    comment = f"{indent}# doctord: {title}; it was: {old.strip()}\n"
    end = held[number][len(old) :]
    held[number] = comment + ("" if change.value is None else f"{indent}{_line(change, place)}{end}")
    return True


def _keyword(change: Change) -> str:
    return change.name.rpartition(".")[2] if change.component == "multipath" else change.name


def _line(change: Change, place: Setting | None = None) -> str:
    """A setting in its file's own form."""
    match change.component:
        case "postgresql":
            return f"{change.name} = '{change.value}'"
        case "oracle":
            return f"{place.instance if place and place.instance else '*'}.{change.name}={change.value}"
        case "multipath":
            return f"{_keyword(change)} {_quoted(change.value or '')}"
        case _:
            return f"{change.name} = {change.value}"


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value


def _drop_ins(left: Sequence[tuple[Violation, Change]], said: Said) -> Iterator[Edited]:
    by_file: dict[str, list[tuple[Violation, Change]]] = {}
    for violation, change in left:
        kind = "block" if BLOCK.fullmatch(change.name) else change.component
        if kind in DROP_INS:
            by_file.setdefault(kind, []).append((violation, change))
    for kind, held in by_file.items():
        name, head = DROP_INS[kind]
        mark = "--" if name == SQL else "#"
        parts = [f"{mark} {one.subject}: {said(one.title)}\n{_dropped(change, name)}" for one, change in held]
        yield Edited(name, "", "\n".join((head, *parts)) + "\n")


def _dropped(change: Change, file: str) -> str:
    if file == SQL:
        if change.value is None:
            return f"alter system reset {change.name} scope=spfile sid='*';"
        return f"alter system set {change.name}={change.value} scope=spfile sid='*';"
    if device := BLOCK.fullmatch(change.name):
        return f'ACTION=="add|change", KERNEL=="{device[1]}", ATTR{{queue/{device[2]}}}="{change.value}"'
    return f"# take out {change.name}" if change.value is None else _line(change)
