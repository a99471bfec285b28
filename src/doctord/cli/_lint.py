"""What `doctord lint` does: the settings as a chart, their examination, how it is printed, and what mends it."""

import json
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from doctord.chart.chart import Chart
from doctord.cli import _read
from doctord.cli._lint_live import of_this_host
from doctord.cli._verdict import recorded
from doctord.cli.arguments import Refusal, note
from doctord.lint import baseline, engine, fix
from doctord.lint.engine import Examined
from doctord.lint.remark import Severity
from doctord.lint.statement import Statement, statements
from doctord.printable import json_text
from doctord.read.source import Told, opened
from doctord.report import lint_document, lint_junit, lint_sarif, lint_terminal

PATCH = "doctord.patch"
KEPT = ".before-doctord"

Form = Literal["text", "json", "sarif", "junit"]


def chart_of(paths: Sequence[Path], dsns: Sequence[str], measured: Path | None, since: str, until: str) -> Chart:
    """Settings of files, or of this host and its servers, and what a lake tells of their workload.

    Raises:
        Refusal: files and servers are both named, or nothing can be read.
    """
    if paths and dsns:
        raise Refusal("either files or servers", "lint the files first, then the server: --dsn without PATH")
    charts = [_read.chart_of(settings, Told())] if (settings := [one for one in paths if not is_sql(one)]) else []
    if not paths:
        charts.append(of_this_host(dsns))
    if measured:
        charts.append(recorded(measured, since, until, "1d")[0])
    return Chart.joined(charts)


def is_sql(path: Path) -> bool:
    """Whether a file is one of SQL, by its name."""
    return path.suffix.lower() == ".sql"


def statements_of(paths: Sequence[Path]) -> list[Statement]:
    """The statements with hints of files of SQL.

    Raises:
        Refusal: a file cannot be read.
    """
    found = list[Statement]()
    for path in filter(is_sql, paths):
        with opened(path) as source:
            found += statements(source.content().decode(errors="replace"), str(path))
    return found


def examined_of(chart: Chart, hinted: Sequence[Statement], cpus: int | None, accepting: Path | None) -> Examined:
    """The examination, without what a baseline accepts; what is to be said of the baseline goes to standard error.

    Raises:
        Refusal: there was nothing to judge, or the baseline cannot be read.
    """
    examined = engine.examine(chart, hinted, cpus)
    if not examined.looked_at:
        raise Refusal("there is no setting and no hint in what was read", "doctord read PATH says what each file is")
    if accepting is None:
        return examined
    try:
        text = accepting.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{accepting}: {error}", baseline.FORM) from error
    examined, idle = baseline.accepted(examined, baseline.parsed(text, str(accepting)), datetime.now(UTC).date())
    for line in idle:
        note(line)
    return examined


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
    answered = sum(name.startswith(("postgresql:", "mysql:")) for name in examined.checked)
    return 0 if answered >= servers else 2


def mend(examined: Examined, folder: Path, *, write: bool) -> None:
    """Write what mends the remarks into a folder: a patch, and drop-ins; with `write` change the files themselves.

    What was written, and what needs a restart, is said on standard error.

    Raises:
        Refusal: something cannot be written.
    """
    texts = {name: text for name in sorted(fix.files_of(examined.remarks)) if (text := _text(Path(name))) is not None}
    edited, new = fix.fixed(examined.remarks, texts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if edited:
            _put(folder / PATCH, "".join(one.patch() for one in edited))
        for one in new:
            _put(folder / one.name, one.after)
        if write:
            for one in edited:
                _change(Path(one.name), one.after)
    except OSError as error:
        raise Refusal(f"{error.filename}: {error.strerror}", "name a folder, and files, that you may write") from error
    needs = dict[str, list[str]]()
    for _, change in fix.wanted(examined.remarks).values():
        needs.setdefault(change.needs, []).append(change.name)
    for need, names in needs.items():
        note(f"needs {need}: {', '.join(sorted(set(names)))}")


def _put(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    note(f"{file} is written")


def _change(file: Path, text: str) -> None:
    """Change a file in one step, its rights kept, with a copy of what it was beside it."""
    old, new = file.with_name(file.name + KEPT), file.with_name(file.name + ".doctord-new")
    shutil.copy2(file, old)
    shutil.copy2(file, new)
    owner = file.stat()
    new.write_text(text, encoding="utf-8")
    shutil.chown(new, owner.st_uid, owner.st_gid)
    new.replace(file)
    note(f"{file} is changed; what it was is in {old}")


def _text(file: Path) -> str | None:
    """A file's text, null where it is none that can be changed: packed, gone, or in another encoding."""
    try:
        with file.open(encoding="utf-8", newline="") as held:
            return held.read()
    except (OSError, UnicodeDecodeError):
        return None
