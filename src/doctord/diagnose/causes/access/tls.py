"""TLS: certificates that hold no longer, or not for long, and clients with whom the server agrees on no connection."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from doctord.analyse.certificates import Certificate, certificates
from doctord.analyse.errors import LOGGED, Logged, logged
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.service.met_by import met_by
from doctord.diagnose.common.failures import MESSAGES
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, Severity
from doctord.diagnose.phrase import Words, phrase

REFUSED: Final = "could not accept SSL connection"
SESSIONS, NEWEST_S = "pg_stat_ssl.sessions", "pg_stat_ssl.newest_s"
# Attempts: a client that tries again and again, and none that was started once with the wrong options.
OFTEN, OFTEN_PER_S = 3.0, 1 / 60
MOST_NAMED = 4


class Reason(NamedTuple):
    """Why a handshake fails: words of OpenSSL, what that says of clients, and what to do; `whose` certificate it is."""

    words: tuple[str, ...]
    said: str
    remedy: str
    is_trouble: bool = True


EXPIRED: Final = Reason(
    ("alert certificate expired",),
    "clients refuse the server's certificate: it has expired, or their clocks are ahead",
    "A new certificate into ssl_cert_file, then reload; look at the clocks of the clients.",
)
UNTRUSTED: Final = Reason(
    ("alert unknown ca", "alert bad certificate", "alert certificate unknown", "alert unsupported certificate",
     "alert certificate revoked"),
    "clients do not trust the server's certificate",
    "The authority that signed ssl_cert_file into the clients' sslrootcert; the whole chain into ssl_cert_file.",
)  # fmt: skip
REFUSING: Final = Reason(
    ("certificate verify failed",),
    "the server refuses the clients' certificates: expired, revoked, or of an authority that it does not know",
    "By the DETAIL of the log: new client certificates; their authority into ssl_ca_file; a list in ssl_crl_file "
    "that has not run out.",
)
# What a certificate that is over makes of handshakes: one of the server's own, which Java's clients call unknown, and
# one of the authorities of clients.
OF_SERVERS, OF_AUTHORITIES = (EXPIRED, UNTRUSTED), (REFUSING,)
AUTHORITIES: Final = "ssl_ca_file"
# Words of OpenSSL's reasons (openssl/ssl_err.c), from 1.0 to 3.x; the first that is in the message counts.
REASONS: Final = (
    EXPIRED,
    UNTRUSTED,
    REFUSING,
    Reason(
        ("did not return a certificate",),
        "clients show no certificate, and the server wants one",
        "sslcert and sslkey at the clients, or pg_hba.conf without clientcert for them.",
    ),
    Reason(
        ("unsupported protocol", "alert protocol version", "version too low", "inappropriate fallback",
         "unsupported ssl protocol"),
        "clients and server have no version of TLS in common",
        "Newer drivers at the clients; ssl_min_protocol_version as low as these need, for as long as they are there.",
    ),
    Reason(
        ("no shared cipher", "alert handshake failure", "no suitable signature", "no shared group", "dh key too small",
         "ca md too weak", "ee key too small"),
        "clients and server have no cipher in common",
        "ssl_ciphers (and ssl_groups) with what the clients can; a certificate whose key and signature are strong "
        "enough for both.",
    ),
    Reason(
        ("eof detected", "connection reset", "success", "unexpected eof", "http request", "wrong version number",
         "unknown protocol", "packet length too long", "bad record type", "broken pipe"),
        "somebody connects and goes, or speaks no TLS: a health check, a scanner",
        "Let the health check ask by pg_isready, or not begin TLS.",
        is_trouble=False,
    ),
)  # fmt: skip
OTHER: Final = Reason((), "clients and server do not agree on TLS", "By the words of the log.")


@cause()
def certificate_expires(case: Case) -> Iterator[Claim]:
    """A certificate of the server has expired, or will within days.

    Looks like: clients that verify the server (sslmode=verify-ca or verify-full, and most drivers that are told to)
        cannot connect any more, while sessions that are open go on: "could not accept SSL connection: ... alert
        certificate expired" in the server's log, at level LOG, "certificate verify failed" at the client.
    Hurts because: from one second to the next no new connection of these clients succeeds; pools keep what they have
        until it breaks.
    Speaks for it: the times in the certificate of ssl_cert_file, in the one that the running server shows, in those of
        ssl_ca_file; refused handshakes in the log; how many sessions use TLS.
    Speaks against it: sessions with TLS that began after it expired: their clients do not verify it.
    Remedy: A new certificate and key into ssl_cert_file and ssl_key_file, then pg_reload_conf() (no restart, sessions
        stay). Where the file is new and the one that the server shows is not, the reload alone is missing; its log says
        why, if it failed. Of ssl_ca_file: the new authority beside the old one. Then let it be renewed by a machine,
        with the reload as its last step, and watch the date.
    Verify: openssl s_client -starttls postgres -connect HOST:PORT shows the new notAfter; no new refused handshake in
        the log.
    Source: PostgreSQL documentation, "Secure TCP/IP Connections with SSL", "SSL Support" (sslmode), ssl_cert_file,
        ssl_ca_file; RFC 5280, 4.1.2.5.
    """
    for db in case.dbs:
        held = [one for one in certificates(case.dataset) if one.db == db]
        bad = [one for one in held if one.is_over or one.is_early or one.is_near]
        if bad:
            yield _certificate(case, db, bad, held)


def _certificate(case: Case, db: str, bad: Sequence[Certificate], held: Sequence[Certificate]) -> Claim:
    """The claim on the worst certificate of a server."""
    worst = min(bad, key=lambda one: (not one.is_over, not one.is_early, one.left_s))
    of_clients = worst.entity.startswith(AUTHORITIES)
    reasons = OF_AUTHORITIES if of_clients else OF_SERVERS
    refused = [one for one in _refused(case, db) if worst.is_over and _reason(one) in reasons]
    unverified = _since(case, db, worst) if worst.is_over and not refused and not of_clients else []
    is_felt = bool(refused) or not (unverified or of_clients)  # few clients have certificates, and nobody counts them
    return Claim(
        _title(worst, db),
        impact=NOT_MEASURED if worst.is_over or worst.is_early else NONE_YET,
        confidence=0.95 if is_felt else 0.8,
        severity=_severity(worst, is_felt=is_felt),
        for_=[*map(_told, bad), *_messages(case, refused), *_sessions(case, db)],
        against=[*unverified, *(_told(one) for one in held if one not in bad)],
        explains=["tls_handshakes_refused"] if refused else [],
        database=db,
    )


def _severity(worst: Certificate, *, is_felt: bool) -> Severity:
    is_bad = worst.is_over or worst.is_early
    return "critical" if is_bad and is_felt else "warning"


def _title(worst: Certificate, db: str) -> Words:
    whose = phrase("The certificate of {} ({})", db, worst.entity)
    if worst.is_over:
        return phrase("{} expired {:duration} ago", whose, -worst.left_s)
    if worst.is_early:
        return phrase("{} does not hold yet, but in {:duration}", whose, -worst.held_s)
    return phrase("{} expires in {:duration}", whose, worst.left_s)


def _told(one: Certificate) -> Evidence:
    until = phrase("until {:%Y-%m-%d %H:%M} UTC", one.at + timedelta(seconds=one.left_s))
    left = phrase("{:duration} left", one.left_s) if one.left_s >= 0 else phrase("over for {:duration}", -one.left_s)
    return Evidence(
        "statistic",
        f"name = 'certificate.left_s' and entity = '{one.entity}'",
        phrase("{}: {}", one.entity, left),
        phrase("{:duration}", one.near_s),
        until,
    )


def _sessions(case: Case, db: str) -> list[Evidence]:
    """Who uses TLS now."""
    count = next((one.last for one in case.figures(SESSIONS) if one.db == db), None)
    if count is None:
        return []
    told = phrase("{:count session/sessions} with TLS", count)
    why = "they stay; those that come are asked to trust the certificate"
    return [Evidence("statistic", f"name = '{SESSIONS}' and db = '{db}'", told, "", why)]


def _since(case: Case, db: str, worst: Certificate) -> list[Evidence]:
    """That sessions with TLS began since it expired."""
    newest_s = next((one.last for one in case.figures(NEWEST_S) if one.db == db), None)
    if newest_s is None or newest_s > -worst.left_s:
        return []
    return [
        Evidence("statistic", f"name = '{NEWEST_S}' and db = '{db}'",
                 phrase("the newest session with TLS began {:duration} ago", newest_s),
                 phrase("{:duration}", -worst.left_s), "since it expired: that client does not verify it")
    ]  # fmt: skip


@cause()
def tls_handshakes_refused(case: Case) -> Iterator[Claim]:
    """Clients do not get in, because they and the server do not agree on TLS.

    Looks like: "could not accept SSL connection: ..." in the server's log, at level LOG, again and again; no session,
        no failed login, no error: the client is gone before it says who it is.
    Hurts because: these clients have no connection at all; nothing that the server counts shows it.
    Speaks for it: how often, and the reason in OpenSSL's words; from where, where the log tells it (%h).
    Speaks against it: one or two attempts; who connects and says nothing (health checks, scanners): told as a note.
    Remedy: By the reason.
    Verify: No new ones in the log, and the client's sessions are there.
    Source: PostgreSQL documentation, "Secure TCP/IP Connections with SSL", ssl_min_protocol_version, ssl_ciphers,
        ssl_ca_file, "SSL Support"; OpenSSL, SSL_get_error(3) and its list of reasons.
    """
    for db in case.dbs:
        refused = _refused(case, db)
        meant = [one for one in refused if _reason(one).is_trouble]
        told = meant or refused
        count = sum(one.count for one in told)
        seconds = next((one.seconds for one in case.figures(MESSAGES) if one.db == db and one.seconds), case.seconds)
        if not told or (not meant and (count < OFTEN or count / max(seconds, 1.0) < OFTEN_PER_S)):
            continue
        first = _reason(told[0])
        yield Claim(
            phrase("{:count TLS handshake/TLS handshakes} of {} failed: {}", round(count), db, first.said),
            impact=NOT_MEASURED,
            confidence=0.9,
            severity="warning" if meant and count >= OFTEN else "note",
            for_=_messages(case, told),
            remedy=[*dict.fromkeys(_reason(one).remedy for one in told[:MOST_NAMED])],
            database=db,
        )


def _refused(case: Case, db: str) -> list[Logged]:
    return [one for one in logged(case.dataset) if one.db == db and one.message.startswith(REFUSED)]


def _reason(one: Logged) -> Reason:
    message = one.message.removeprefix(REFUSED).lower()
    return next((reason for reason in REASONS if any(words in message for words in reason.words)), OTHER)


def _messages(case: Case, told: Sequence[Logged]) -> list[Evidence]:
    """How often each came, and from whom."""
    return [
        Evidence("statistic", f"name = '{LOGGED}' and entity = '{one.entity}'",
                 phrase("{}: {:count time/times}", one.entity, round(one.count)), "",
                 met_by(case, one) or _reason(one).said)
        for one in told[:MOST_NAMED]
    ]  # fmt: skip
