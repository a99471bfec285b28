"""Settings of MariaDB and MySQL that do nothing any more, or will be gone."""

from collections.abc import Iterator

from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation


@rule("mysql")
def setting_deprecated(subject: Subject) -> Iterator[Violation]:
    """A file sets what the server still knows, but warns of.

    Why: the next version refuses to start with it, or it has no effect by now.
    Evidence: the list of settings of this version.
    Fix: Use what is named instead, or take the line out.
    Verify: the server's log has no warning about it at the next start.
    Source: MySQL Server Version Reference; information_schema.SYSTEM_VARIABLES of MariaDB.
    """
    for setting in subject.rows:
        known = subject.known.get(setting.name)
        if setting.is_running or known is None or not known.note.startswith("deprecated"):
            continue
        if known.until is None and subject.version is not None:
            instead = known.note.removeprefix("deprecated").lstrip(": ") or "nothing replaces it"
            yield subject.violation(
                f"{setting.name} is deprecated: {instead}",
                settings=[setting],
                cost="nothing before an upgrade takes it away",
                severity=Severity.NOTE,
            )
