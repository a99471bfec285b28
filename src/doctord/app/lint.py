"""Lint settings: of files, or of this host and its servers; and write what fixes them."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from doctord.app import read
from doctord.app.asked import ALL, Interval
from doctord.app.lint_host import of_this_host
from doctord.app.lint_servers import of_servers
from doctord.app.source import Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.lint import baseline, engine, fix
from doctord.lint.engine import Examined
from doctord.lint.statement import Statement, statements
from doctord.lint.violation import Severity
from doctord.read.source import ReadOptions, opened

DEFAULTS = ReadOptions()
PATCH = "doctord.patch"
KEPT = ".before-doctord"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be looked at, and what is known beside it.

    Attributes:
        paths: Configuration files, files of SQL, folders, reports; none: this host and its servers.
        dsns: The servers to ask instead of those found here.
        lake: What was measured of the workload; null: nothing was.
        when: The time of the lake that counts.
        options: What the user says of files that do not say it themselves.
        cpus: How many CPUs the machine has, where nothing tells.
        accepting: File of what is accepted; null: nothing is.
    """

    paths: Sequence[Path]
    dsns: Sequence[str] = ()
    lake: Path | None = None
    when: Interval = ALL
    options: ReadOptions = DEFAULTS
    cpus: int | None = None
    accepting: Path | None = None


def examined(asked: Asked, watcher: Watcher = SILENT) -> Examined:
    """Examine the settings of files, or of this host and its servers, by the workload of a lake where one is named.

    Raises:
        UserError: a time is said of no lake; else as `settings` and `lint`.
    """
    if asked.lake is None and not asked.when.is_all:
        raise UserError("--from and --to are a time of a lake, and none is named", "name it: --with LAKE")
    workload = Recorded(asked.lake).joined(asked.when, watcher) if asked.lake else None
    dataset = settings(asked.paths, asked.dsns, workload, watcher, asked.options)
    return lint(dataset, statements_of(asked.paths), asked.cpus, asked.accepting, watcher)


def settings(
    paths: Sequence[Path],
    dsns: Sequence[str] = (),
    workload: Dataset | None = None,
    watcher: Watcher = SILENT,
    options: ReadOptions = DEFAULTS,
) -> Dataset:
    """Settings of files, or of this host and its servers, with what is known of their workload.

    Raises:
        UserError: files and servers are both named, or nothing can be read.
    """
    if paths and dsns:
        raise UserError("either files or servers", "lint the files first, then the server: --dsn without PATH")
    held = [path for path in paths if not is_sql(path)]
    datasets = list[Dataset]()
    if held:
        files = read.usable(read.each_read(held, options, watcher), watcher, is_verbose=options.is_verbose)
        datasets.append(Dataset(read.tables_of(of_servers(files, watcher))))
    if not paths:
        datasets.append(of_this_host(dsns, watcher))
    return Dataset.joined([*datasets, *([workload] if workload else [])])


def is_sql(path: Path) -> bool:
    """Whether a file is one of SQL, by its name."""
    return path.suffix.lower() == ".sql"


def statements_of(paths: Sequence[Path]) -> list[Statement]:
    """The statements with hints of files of SQL.

    Raises:
        UserError: a file cannot be read.
    """
    found = list[Statement]()
    for path in filter(is_sql, paths):
        with opened(path) as source:
            found += statements(source.content().decode(errors="replace"), str(path))
    return found


def lint(
    dataset: Dataset,
    hinted: Sequence[Statement] = (),
    cpus: int | None = None,
    accepting: Path | None = None,
    watcher: Watcher = SILENT,
) -> Examined:
    """Examine settings, without what a baseline accepts; what is to be said of the baseline is noted.

    Args:
        dataset: The settings, and what was measured.
        hinted: Statements with hints.
        cpus: How many CPUs the machine has, where nothing tells.
        accepting: File of what is accepted.
        watcher: Who is told how it goes on.

    Raises:
        UserError: there was nothing to judge, or the baseline cannot be read.
    """
    found = engine.examine(dataset, hinted, cpus)
    if not found.looked_at:
        raise UserError("there is no setting and no hint in what was read", "doctord read PATH says what each file is")
    if accepting is None:
        return found
    try:
        text = accepting.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{accepting}: {error}", baseline.FORM) from error
    found, idle = baseline.accepted(found, baseline.parsed(text, str(accepting)), datetime.now(UTC).date())
    for line in idle:
        watcher.note(line)
    return found


def healthy(examined: Examined, servers: int = 0) -> bool | None:
    """False where something is worse than a note; null where fewer database servers answered than were named."""
    if examined.worst is not None and examined.worst > Severity.NOTE:
        return False
    return True if len(examined.servers) >= servers else None


def write_fix(examined: Examined, folder: Path, said: fix.Said, *, write: bool, watcher: Watcher = SILENT) -> None:
    """Write what fixes the violations into a folder: a patch, and drop-ins; with `write` change the files themselves.

    What was written, and what needs a restart, is noted; `said` makes text of titles, for comments.

    Raises:
        UserError: something cannot be written.
    """
    texts = {
        name: text for name in sorted(fix.files_of(examined.violations)) if (text := _text(Path(name))) is not None
    }
    edited, new = fix.fixed(examined.violations, texts, said)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if edited:
            _put(folder / PATCH, "".join(one.patch() for one in edited), watcher)
        for one in new:
            _put(folder / one.name, one.after, watcher)
        if write:
            for one in edited:
                _change(Path(one.name), one.after, watcher)
    except OSError as error:
        raise UserError(
            f"{error.filename}: {error.strerror}", "name a folder, and files, that you may write"
        ) from error
    needs = dict[str, list[str]]()
    for _, change in fix.wanted(examined.violations).values():
        needs.setdefault(change.needs, []).append(change.name)
    for need, names in needs.items():
        watcher.note(f"needs {need}: {', '.join(sorted(set(names)))}")


def _put(file: Path, text: str, watcher: Watcher) -> None:
    file.write_text(text, encoding="utf-8")
    watcher.note(f"{file} is written")


def _change(file: Path, text: str, watcher: Watcher) -> None:
    """Change a file in one step, its rights kept, with a copy of what it was beside it."""
    old, new = file.with_name(file.name + KEPT), file.with_name(file.name + ".doctord-new")
    shutil.copy2(file, old)
    shutil.copy2(file, new)
    owner = file.stat()
    new.write_text(text, encoding="utf-8")
    shutil.chown(new, owner.st_uid, owner.st_gid)
    new.replace(file)
    watcher.note(f"{file} is changed; what it was is in {old}")


def _text(file: Path) -> str | None:
    """A file's text, null where it is none that can be changed: packed, gone, or in another encoding."""
    try:
        with file.open(encoding="utf-8", newline="") as held:
            return held.read()
    except (OSError, UnicodeDecodeError):
        return None
