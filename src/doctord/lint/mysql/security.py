"""Settings of MariaDB and MySQL that give away what is stored."""

from collections.abc import Iterator

from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation


@rule("mysql")
def grants_skipped(subject: Subject) -> Iterator[Violation]:
    """Everybody is root: the grant tables are not read.

    Why: skip_grant_tables is for setting a lost password anew. While it is on, whoever connects may do everything.
    Evidence: skip_grant_tables.
    Fix: Take it out and restart.
    Verify: a login without password is refused.
    Source: MySQL Reference Manual, B.3.3.2 How to Reset the Root Password.
    """
    if subject.flag("skip_grant_tables") is True:
        yield subject.violation(
            "skip_grant_tables: whoever connects may do everything",
            "skip_grant_tables",
            cost="data: anybody who reaches the server reads, changes and drops all of it",
            severity=Severity.ERROR,
            changes=[subject.change("skip_grant_tables", None, "restart")],
        )


@rule("mysql")
def passwords_of_old(subject: Subject) -> Iterator[Violation]:
    """Passwords in a form that is broken are accepted.

    Why: the hash of old_passwords = 1 (before 4.1) is found by trial within minutes.
    Evidence: old_passwords, secure_auth.
    Fix: Set old_passwords = 0 and secure_auth = ON, and set the passwords of old accounts anew.
    Verify: no account in mysql.user has a hash of 16 characters.
    Source: MySQL 5.7 Reference Manual, 6.1.2.4 Password Hashing in MySQL.
    """
    if (
        subject.number("old_passwords") == 1
        or subject.flag("old_passwords") is True
        or subject.flag("secure_auth") is False
    ):
        yield subject.violation(
            "passwords with the hash of before MySQL 4.1 are accepted",
            "old_passwords",
            "secure_auth",
            cost="data: whoever sees such a hash has the password within minutes",
            severity=Severity.ERROR,
            changes=[
                subject.change(name, right)
                for name, right in (("old_passwords", "0"), ("secure_auth", "ON"))
                if subject.explicit(name)  # a version that has it no more would not start with it
            ],
        )


@rule("mysql")
def files_of_clients_read(subject: Subject) -> Iterator[Violation]:
    """A statement can read files: of any client, and of the server's host wherever its user may.

    Why: with local_infile = ON an injected LOAD DATA LOCAL reads files of the application's host; with an empty
        secure_file_priv an account with the right FILE reads and writes wherever the server's user may.
    Evidence: local_infile and secure_file_priv, where a file sets both that way.
    Fix: Set local_infile = OFF, and secure_file_priv to one folder.
    Verify: LOAD DATA LOCAL INFILE is refused.
    Source: MySQL Reference Manual, 8.1.6 Security Considerations for LOAD DATA LOCAL; 7.1.8, secure_file_priv.
    """
    local, folder = subject.get("local_infile"), subject.get("secure_file_priv")
    if local is None or folder is None or local.flag is not True or folder.value != "":
        return
    if local.is_set and local.source is not None and folder.is_set:
        yield subject.violation(
            "local_infile = ON and secure_file_priv is empty: statements reach files",
            "local_infile",
            "secure_file_priv",
            cost="data: files of clients, and of the host as far as the server's user may read and write",
            severity=Severity.WARNING,
            changes=[subject.change("local_infile", "OFF")],
        )
