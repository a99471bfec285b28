"""Certificates that are about to end."""

from collections.abc import Iterator
from datetime import timedelta

from doctord.analyse.certificates import certificates
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation


@rule("postgresql")
def certificate_near_end(subject: Subject) -> Iterator[Violation]:
    """A certificate of the server ends within a month, or within a fifth of its life where that is less.

    Why: from its last second on no client that verifies the server gets a new connection, all at once; what runs out
        next is known to the second.
    Evidence: the times in the certificate of ssl_cert_file, of ssl_ca_file, and in the one that the server shows.
    Fix: a new certificate and key into ssl_cert_file and ssl_key_file, then select pg_reload_conf(); renewed by a
        machine, with the reload as its last step.
    Verify: openssl s_client -starttls postgres -connect HOST:PORT shows the new notAfter.
    Source: PostgreSQL documentation, "Secure TCP/IP Connections with SSL", ssl_cert_file, ssl_ca_file; RFC 5280,
        4.1.2.5.
    """
    for one in certificates(subject.case.dataset):
        if one.db != subject.db or not one.is_near:
            continue
        end = one.at + timedelta(seconds=one.left_s)
        yield subject.violation(
            phrase("{} ends at {:%Y-%m-%d %H:%M} UTC", one.entity, end),
            "ssl_cert_file",
            cost="no client that verifies the server gets a new connection after that",
            severity=Severity.ERROR if one.is_over else Severity.WARNING,
            evidence=[
                Evidence("statistic", f"name = 'certificate.left_s' and entity = '{one.entity}'",
                         phrase("{:.0f days left}", one.left_s / 86400), phrase("{:.0f days}", one.near_s / 86400),
                         "what is left of its life", "at_most")
            ],
        )  # fmt: skip
