r"""Option files of MariaDB and MySQL: my.cnf and what it includes.

It yields `setting`, component `mysql`, of the groups that a server reads ([mysqld], [mariadb], [server],
[client-server], [galera], and those of a version, [mysqld-8.0]); groups of clients are left out. Names stand in small
letters with underscores, without `loose_`; `skip_x` and `disable_x` are x = OFF, `enable_x` and an option without a
value are ON. `!include` and `!includedir` are followed where the file lies on this host, in the order of the alphabet.
`db` is `mysql:PORT` where the port is set, else `mysql`. A value that may hold a secret is not kept.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from doctord._native import Batch
from doctord.dataset.catalogue import EITHER, catalogue
from doctord.dataset.mysql_names import COMPONENT, shown
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import FROM_FILE
from doctord.errors import UserError
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile, opened
from doctord.regex import regex

NAME = "option file of MariaDB or MySQL (my.cnf)"
RANK = Rank.SHAPE
GROUP: Final = regex(r"\s*\[\s*([\w.-]+)\s*\]\s*(?:#.*)?$")
SERVER: Final = regex(r"(mysqld|mariadbd?)(-\d+(\.\d+)*)?|server|client-server|galera|embedded")
SNIFFED: Final = regex(
    r"^[ \t]*(?:\[[ \t]*(?:mysqld|mariadbd?|mysql|mariadb-client|client|server|client-server|client-mariadb|mysqld_safe"
    r"|mariadbd?-safe|mysqldump|galera|mysqld\d+)(?:[-.\d]*)[ \t]*\]|!include(?:dir)?[ \t]+/)",
    re.MULTILINE,
)
INCLUDE: Final = regex(r"\s*!(include|includedir)\s+(.*\S)\s*$")
OPTION: Final = regex(r"\s*(?:--)?([A-Za-z][\w.-]*)\s*(?:=\s*(.*))?$")
DEEPEST: Final = 10  # as the server: deeper ones it skips
HERE: Final = "name the file on its own host, or the folder with all of them"


class Option(NamedTuple):
    """One option of a server's group, and where it stands."""

    name: str
    value: str
    file: str
    line: int


def sniff(head: str) -> bool:
    """Whether it has a group of a server or client, or an include."""
    return SNIFFED.search(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`, in the order in which the server reads them."""
    above = (source.path.resolve(),) if source.path else ()
    options = list(_options(source, above))
    if not options:
        source.note("no option of a server in it")
        return
    port = next((one.value for one in reversed(options) if one.name == "port" and one.value.isdecimal()), None)
    common = {"ts": micros(last_written(source)), "host": source.host, "component": COMPONENT, "source": FROM_FILE}
    common["db"] = f"mysql:{port}" if port else "mysql"
    own = ({"name": one.name, "value": one.value, "source_file": one.file, "line": one.line} for one in options)
    yield rows("setting", [common | row for row in own])


def named(text: str, value: str | None) -> tuple[str, str]:
    """Name and value of an option as the server takes them.

    >>> named("innodb-buffer-pool-size", "'8G'"), named("skip-log-bin", None), named("loose_skip_name_resolve", None)
    (('innodb_buffer_pool_size', '8G'), ('log_bin', 'OFF'), ('skip_name_resolve', 'ON'))
    """
    name = text.replace("-", "_").lower().removeprefix("loose_").removeprefix("maximum_")
    plain = _unquoted(value) if value is not None else "ON"
    for prefix, meant in (("skip_", "OFF"), ("disable_", "OFF"), ("enable_", "ON")):
        if name.startswith(prefix) and name not in catalogue(EITHER):
            turned = plain.upper() not in {"OFF", "0", "FALSE"}
            return name.removeprefix(prefix), meant if turned else {"OFF": "ON", "ON": "OFF"}[meant]
    return name, shown(name, plain)


def _options(source: SourceFile, above: tuple[Path, ...]) -> Iterator[Option]:
    group: str | None = None
    for line, text in source.lines():
        if not text.strip() or text.lstrip().startswith(("#", ";")):
            continue
        if included := INCLUDE.match(text):
            for file in _included(source, line, included[1], Path(included[2].strip("'\"")), above):
                yield from _of_file(source, line, file, above)
        elif begun := GROUP.match(text):
            group = begun[1].lower()
        elif group is None:
            source.skip(line, "an option before the first group: the server refuses the file")
        elif SERVER.fullmatch(group):
            yield from _option(source, line, text)


def _option(source: SourceFile, line: int, text: str) -> Iterator[Option]:
    found = OPTION.match(_without_comment(text))
    if found is None:
        source.skip(line, "no option of a server: NAME or NAME = VALUE")
        return
    name, value = named(found[1], found[2])
    yield Option(name, value, source.name, line)


def _included(source: SourceFile, line: int, how: str, place: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    """The files that a directive names; what cannot be followed is said."""
    if not above:
        source.skip(line, f"!{how} {place} is not followed: {HERE}")
        return
    place = above[-1].parent / place
    try:
        files = sorted(place.iterdir()) if how == "includedir" else [place]
    except OSError as error:
        source.skip(line, f"!{how} {place}: {error.strerror}; hint: {HERE}")
        return
    yield from (file for file in files if how == "include" or file.suffix == ".cnf")


def _of_file(source: SourceFile, line: int, file: Path, above: tuple[Path, ...]) -> Iterator[Option]:
    """The options of an included file; what is to be said of it is said of the whole."""
    resolved = file.resolve()
    if resolved in above:
        source.skip(line, f"{file} includes itself; hint: take this line out, the server goes round {DEEPEST} times")
        return
    if len(above) > DEEPEST:
        source.skip(line, f"{file} is more than {DEEPEST} includes deep: the server skips it")
        return
    try:
        with opened(file, source.options) as inner:
            yield from _options(inner, (*above, resolved))
    except UserError as refusal:
        if "is empty" not in str(refusal):
            source.skip(line, f"{refusal}; hint: {refusal.hint}")
        return
    source.skipped += inner.skipped
    source.skipped_lines += inner.skipped_lines


def _without_comment(text: str) -> str:
    """A line up to a `#` outside of quotes: in the middle of a line the server takes no other sign for a comment."""
    return re.sub(r"""^((?:[^"'#]|"[^"]*"|'[^']*'|["'](?=[^"']*$))*)#.*$""", r"\1", text).rstrip()


def _unquoted(value: str) -> str:
    value = value.strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value
