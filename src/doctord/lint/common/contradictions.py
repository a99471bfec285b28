"""Settings that contradict something: the list of those that exist, each other, or what the server runs with."""

from collections.abc import Iterator
from typing import Final

from doctord.dataset.catalogue import Known, nearest
from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation
from doctord.regex import regex
from doctord.units import one_of

# Of these the catalogue is whole: a name that it has not is none.
WHOLE: Final = ("postgresql", "mysql", "multipath")
LISTED: Final = (*WHOLE, "oracle", "kernel")
# How the names of MySQL's and MariaDB's plugins, components and optional engines begin.
PLUGIN: Final = regex(
    r"\w+\.|audit_|authentication_|auth_|aws_|caching_sha2_|clone_|columnstore_|connect_|cracklib_|daemon_memcached_"
    r"|disks_|feedback|file_key_management_|group_replication_|handlersocket_|hashicorp_|keyring_|mroonga_|mysql_firewall_"
    r"|mysqlx_?|ndb_?|oqgraph_|pam_|password_reuse_|plugin_|query_response_time_|rocksdb_|rpl_semi_sync_|s3_|server_audit_"
    r"|sha256_|simple_password_check_|sphinx_|spider_|sql_error_log_|thread_pool_|tokudb_|validate_password|version_tokens_"
)
REFUSED: Final = "availability: the server does not start with this file, and on a reload leaves out all of it"
NUMERIC: Final = ("int", "real", "size", "time")


@rule(*WHOLE)
def setting_unknown(subject: Subject) -> Iterator[Violation]:
    """A file has a setting that there is not.

    Why: a server refuses to start with it, or ignores it: what was meant is not in force.
    Evidence: the list of settings of all known versions; the name most like it.
    Fix: Correct the name, or take the line out.
    Verify: Start the server with its check of the configuration, or look at what it runs with.
    Source: the servers' own lists: pg_settings, information_schema.SYSTEM_VARIABLES, multipath.conf(5).
    """
    for setting in _in_files(subject) if subject.known else ():
        if known_as(subject, setting) is None and not _is_extension(setting):
            meant = nearest(subject.known, _bare(subject, setting), subject.version)
            yield subject.violation(
                f"{setting.name}: there is no such setting" + (f"; {meant} is most like it" if meant else ""),
                settings=[setting],
                cost=REFUSED if refuses(subject) else "what was meant is not in force, and the server may not start",
                severity=Severity.ERROR if refuses(subject) else Severity.WARNING,
            )


@rule(*WHOLE)
def setting_removed(subject: Subject) -> Iterator[Violation]:
    """A setting is of another version than the server's.

    Why: an upgraded server refuses to start with it or ignores it.
    Evidence: the versions that have the setting, and the server's.
    Fix: Take the line out; use what replaced it.
    Verify: Start the new version with its check of the configuration.
    Source: release notes of the versions named.
    """
    for setting in _in_files(subject):
        known = known_as(subject, setting)
        if known is None or (known.since is None and known.until is None):
            continue
        if not known.is_in(subject.version):
            words = f"{setting.name} is not in version {_dotted(subject.version)}{_instead(known)}"
            cost, severity = "the server refuses or ignores it: what was meant is not in force", Severity.WARNING
        elif known.until is not None:
            words = f"{setting.name} is gone from version {_dotted(known.until)} on{_instead(known)}"
            cost, severity = "nothing before the upgrade", Severity.NOTE
        else:
            continue
        yield subject.violation(words, settings=[setting], cost=cost, severity=severity)


@rule(*LISTED)
def value_invalid(subject: Subject) -> Iterator[Violation]:
    """A value is outside of what the setting takes.

    Why: the server refuses it, or silently takes the nearest that it can.
    Evidence: the setting's kind, bounds and choices.
    Fix: Write a value within the bounds, with its unit.
    Verify: Look at what the server runs with.
    Source: the servers' own lists: pg_settings, information_schema.SYSTEM_VARIABLES; reference manuals.
    """
    for setting in _in_files(subject):
        known = known_as(subject, setting)
        wrong = _wrong(known, setting) if known else None
        if known and wrong and not _mistaken(subject, known, setting):
            yield subject.violation(
                f"{setting.name} = {setting.value}: {wrong}",
                settings=[setting],
                cost=REFUSED
                if refuses(subject)
                else "the server refuses it, or runs with another value than is written",
                severity=Severity.ERROR if refuses(subject) else Severity.WARNING,
            )


@rule(*LISTED)
def unit_mistaken(subject: Subject) -> Iterator[Violation]:
    """A bare number counts something else than was meant.

    Why: 8589934592 was meant as bytes and counts pages of 8 kB: the server cannot start, or takes 8,192 times as much.
    Evidence: the unit of a bare number, and the memory of this machine or the setting's upper bound.
    Fix: Write the unit behind the number.
    Verify: Look at what the server runs with, in bytes.
    Source: PostgreSQL documentation, 20.1.1 Parameter Names and Values; reference manuals.
    """
    for setting in _in_files(subject):
        known = known_as(subject, setting)
        meant = _mistaken(subject, known, setting) if known else None
        if known and meant:
            counted = setting.number or 0.0
            title = phrase("{} = {} counts {}", setting.name, setting.value, known.unit)
            yield subject.violation(
                phrase("{}, {:bytes} in all; {:bytes} may be meant", title, counted, meant),
                settings=[setting],
                cost=phrase(
                    "{:bytes} asked of {:bytes}: the server cannot start", counted, subject.machine.memory_bytes or 0.0
                ),
                severity=Severity.ERROR,
            )


@rule(*LISTED)
def set_twice(subject: Subject) -> Iterator[Violation]:
    """A setting is written twice with different values: the last one counts.

    Why: whoever changes the first one changes nothing. Between files that may be meant: a drop-in is there to override.
    Evidence: both lines.
    Fix: Keep one of them.
    Verify: Look at what the server runs with, and where that comes from.
    Source: the servers' manuals: of several lines the last one counts.
    """
    by_name: dict[tuple[str, str | None], list[Setting]] = {}
    for setting in _in_files(subject):
        by_name.setdefault((setting.name, setting.instance), []).append(setting)
    for (name, _), held in by_name.items():
        if len({one.value for one in held}) > 1:
            yield subject.violation(
                f"{name} is set {len(held)} times; {held[-1].value} counts",
                settings=held,
                cost=f"{', '.join(one.value for one in held[:-1])} is not in force, though it is written",
                severity=Severity.WARNING if len({one.file for one in held}) < len(held) else Severity.NOTE,
            )


@rule(*LISTED)
def not_in_force(subject: Subject) -> Iterator[Violation]:
    """A file says one thing, the running server another.

    Why: the file was changed and not loaded, or something overrides it: the next restart changes the behaviour, at a
        time that nobody chose.
    Evidence: the file's value, and what the server says that it runs with.
    Fix: Load the configuration again, or restart; or take the line out where something else is to count.
    Verify: Ask the server.
    Source: PostgreSQL documentation, 20.1; MySQL Reference Manual, 5.1.9; sysctl.conf(5).
    """
    running = {one.name: one for one in subject.rows if one.is_running}
    written = {one.name: one for one in _in_files(subject)}
    for name, setting in written.items():
        now = running.get(name)
        if now and not _same(setting, now):
            known = subject.known.get(name)
            until = "a restart" if known and known.needs == "restart" else "it is loaded, or set by hand"
            yield subject.violation(
                phrase("{}: {} is written, {} is in force", name, setting.words, now.words),
                settings=[setting, now],
                cost=f"what is written does not hold before {until}",
                severity=Severity.WARNING,
            )


def refuses(subject: Subject) -> bool:
    """Whether one line that is wrong costs the whole file: PostgreSQL takes all of it or nothing."""
    return subject.component == "postgresql"


def known_as(subject: Subject, setting: Setting) -> Known | None:
    """What the catalogue knows of a setting; null where it has no such name."""
    return subject.known.get(_bare(subject, setting))


def _in_files(subject: Subject) -> list[Setting]:
    return [one for one in subject.rows if not one.is_running]


def _bare(subject: Subject, setting: Setting) -> str:
    """The name as the catalogue has it: a keyword of multipath.conf without its section."""
    return setting.name.rpartition(".")[2] if subject.component == "multipath" else setting.name


def _is_extension(setting: Setting) -> bool:
    """Whether its name is one of those that a plugin or a device brings, of which no list is whole."""
    if setting.component == "multipath":
        return setting.value == "device"  # a device that is left out, by vendor and product
    if setting.component == "mysql":
        return PLUGIN.match(setting.name) is not None
    return setting.component == "postgresql" and "." in setting.name


def _instead(known: Known) -> str:
    return f": {known.note}" if known.note else ""


def _dotted(version: tuple[int, ...] | None) -> str:
    return ".".join(map(str, version or ()))


def _wrong(known: Known, setting: Setting) -> str | None:
    """What is wrong with a value; null where it is within bounds, or nothing is known of them."""
    if known.choices and setting.value.strip("'\"").lower() not in {one.lower() for one in known.choices}:
        return f"not one of {', '.join(known.choices)}"
    if known.kind == "bool" and not known.choices and setting.flag is None:
        return "neither on nor off"
    return _out_of_bounds(known, setting.number) if known.kind in NUMERIC else None


def _out_of_bounds(known: Known, number: float | None) -> str | None:
    if number is None:
        return "no number with a unit that is known"
    factor = one_of(known.unit)
    if known.least is not None and number < known.least * factor:
        return f"below the least, {_bound(known.least, known.unit)}"
    if known.most is not None and number > known.most * factor:
        return f"above the most, {_bound(known.most, known.unit)}"
    return None


def _bound(limit: float, unit: str | None) -> str:
    """A bound in full digits, with its unit: `2147483647 kB`, `16 x 8kB`."""
    return f"{limit:.15g}{' x' if unit and unit[0].isdigit() else ''} {unit or ''}".rstrip()


def _mistaken(subject: Subject, known: Known, setting: Setting) -> float | None:
    """The bytes that a bare number may have been meant as, when in its own unit it asks for more than the memory."""
    memory = subject.machine.memory_bytes
    if memory is None or known.kind != "size" or not setting.value.strip().isdigit():
        return None
    factor = one_of(known.unit)
    written = float(setting.value)
    if factor > 1 and written * factor > memory and written <= memory:
        return written
    return None


def _same(one: Setting, other: Setting) -> bool:
    """Whether two say the same, in whatever units."""
    words = [" ".join(setting.value.strip("'\" ").lower().split()) for setting in (one, other)]
    if words[0] == words[1] or _parts(words[0]) == _parts(words[1]):
        return True
    if other.flag is True and one.flag is None and one.number is None:
        return True  # a file's name, of which the server only says that there is one: log_bin
    if one.number is not None and other.number is not None:
        return one.number == other.number
    return one.flag is not None and one.flag == other.flag


def _parts(words: str) -> set[str]:
    """The parts of a list, whose order says nothing; a folder with or without the slash at its end."""
    return {part.strip().rstrip("/") for part in words.split(",")}
