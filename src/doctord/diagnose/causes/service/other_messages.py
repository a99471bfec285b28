"""What the server writes into its log and no cause explains: in its own words, how often, since when, and who met it.

Errors of statements and sessions are told by their own causes (`errors_logged` tells all that these leave). Here are
warnings, and messages of severity LOG that tell of something that failed: no view counts them.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from doctord.analyse.errors import IN_ALL, LOGGED, Logged, logged
from doctord.dataset.log_messages import USUAL, Known, known
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.service.met_by import met_by
from doctord.diagnose.common.failures import OFTEN, OFTEN_PER_S, OVER_S, POSTGRESQL
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, Severity
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

QUIET: Final = ("WARNING", "LOG")
# SQLSTATEs of the server and the system below it: out of something, an operator's or a system's error, damaged files.
SERVERS_OWN: Final = ("53", "58", "F0", "XX")
MOST_NAMED: Final = 4
COLLECT: Final = (
    "Nothing is known of these messages but that they come again and again: read them whole in the log, with their "
    "DETAIL, HINT and CONTEXT.",
    "To tell, collect: %u, %d, %a and %h in log_line_prefix (or csvlog) for who meets them, %e for the SQLSTATE, and "
    "what changed when they began.",
)


@cause(last=True)
def other_messages(case: Case) -> Iterator[Claim]:
    """The server's log warns, or tells of something that failed, and no other cause explains it.

    Looks like: warnings, and messages of severity LOG with words like "could not", in the log while it was looked.
    Hurts because: what the server tells nobody but its log is seen by nobody: a configuration that was not taken,
        clients that it cannot take in, processes that it cannot start.
    Speaks for it: the message in the server's words, without its values; how often, since when, and for which user,
        database, application and client, as far as the log tells.
    Speaks against it: none for an hour: it is over.
    Remedy: By the message.
    Verify: No new ones in the log.
    Source: PostgreSQL documentation, "Error Reporting and Logging", "PostgreSQL Error Codes"; messages of the server's
        sources, versions 13 to 18.
    """
    messages = [one for one in logged(case.dataset) if one.severity in QUIET and one.db.startswith(POSTGRESQL)]
    for db in sorted({one.db for one in messages}):
        unknown = list[Logged]()
        by_meaning = dict[Known, list[Logged]]()
        for one in messages:
            about = known(one.message)
            if one.db != db or _is_told(case, one, about):
                continue
            if about is not None:
                by_meaning.setdefault(about, []).append(one)
            elif _is_often(case, one):
                unknown.append(one)
        yield from (_known(case, db, about, told) for about, told in by_meaning.items())
        if unknown:
            yield _unknown(case, db, unknown)


def _is_told(case: Case, one: Logged, about: Known | None) -> bool:
    """Whether it is nothing to be told of, or another finding speaks of it."""
    if about is not None and about.severity == USUAL:
        return True
    own = [claim for name, claim in case.claims if about is not None and name in about.causes]
    if any(claim.database in (None, one.db) for claim in own):
        return True
    of_it = [claim for _, claim in case.claims if claim.database in (None, one.db)]
    return any(f"entity = '{one.entity}'" in item.filter for claim in of_it for item in claim.for_)


def _is_often(case: Case, one: Logged) -> bool:
    """Whether it comes again and again: ten times, and once a minute in the time in which it came."""
    if one.first is None or one.last is None:
        return False
    seconds = max((one.last - one.first).total_seconds(), min(case.seconds, OVER_S))
    return one.count >= OFTEN and one.count >= OFTEN_PER_S * seconds


def _known(case: Case, db: str, about: Known, told: Sequence[Logged]) -> Claim:
    """The claim on messages of which it is known what they mean."""
    over = _over(case, told)
    return Claim(
        phrase("{} (log of {}, {})", about.meaning.rstrip("."), db, _times(sum(one.count for one in told))),
        impact=NOT_MEASURED,
        confidence=0.85,
        severity=_severity(about, told, is_over=bool(over)),
        for_=[_message(case, one) for one in told[:MOST_NAMED]],
        against=over,
        remedy=[phrase("To tell more, and to mend it: {}", about.collect)] if about.collect else (),
        database=db,
    )


def _severity(about: Known, told: Sequence[Logged], *, is_over: bool) -> Severity:
    """As it is known; what came a few times only is none that takes the service away."""
    if is_over or about.severity == "note" or any(one.first is None for one in told):
        return "note"
    is_grave = about.severity == "critical" and sum(one.count for one in told) >= OFTEN
    return "critical" if is_grave else "warning"


def _unknown(case: Case, db: str, told: Sequence[Logged]) -> Claim:
    """The claim on messages of which nothing is known but their words."""
    own = any((one.code or "").startswith(SERVERS_OWN) for one in told)
    over = _over(case, told)
    return Claim(
        phrase("The log of {} says {}: {}", db, _times(told[0].count), shortened(told[0].message, 80)),
        impact=NOT_MEASURED,
        confidence=0.6 if own else 0.4,
        severity="warning" if own and not over else "note",
        for_=[_message(case, one) for one in told[:MOST_NAMED]],
        against=over,
        remedy=COLLECT,
        database=db,
    )


def _over(case: Case, told: Sequence[Logged]) -> list[Evidence]:
    """That none of them has come for long."""
    last = max((one.last for one in told if one.last), default=None)
    until = case.dataset.until
    quiet_s = (until - last).total_seconds() if until and last else 0.0
    if quiet_s < OVER_S:
        return []
    return [
        Evidence("statistic", f"name = '{LOGGED}' and db = '{told[0].db}'", phrase("none for {:duration}", quiet_s),
                 phrase("{:duration}", OVER_S), "it is over")
    ]  # fmt: skip


def _message(case: Case, one: Logged) -> Evidence:
    """How often a message came, since when, and who met it."""
    who = met_by(case, one)
    since = phrase("since {:%Y-%m-%d %H:%M}", one.first) if one.first else "at times that the log does not tell"
    return Evidence(
        "statistic",
        f"name = '{LOGGED if one.first else IN_ALL}' and entity = '{one.entity}'",
        phrase("{}: {}", shortened(one.entity), _times(one.count)),
        "",
        phrase("{}; by {}", since, who) if who else since,
    )


def _times(count: float) -> Words:
    return "once" if round(count) <= 1 else phrase("{:,.0f} times", count)
