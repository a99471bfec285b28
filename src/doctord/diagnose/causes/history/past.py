"""The host's own past: what no absolute rule names, but was not so before."""

from collections.abc import Iterator

from doctord.analyse.vitals import ACTIVE
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

# Twice the median and beyond what was seldom exceeded: less is within the ups and downs of a day.
TIMES_USUAL = 2.0
FELT_SESSIONS = 0.5


@cause()
def unlike_before(case: Case) -> Iterator[Claim]:
    """More sessions are at work than ever before at the same load.

    Looks like: average active sessions far above their own past while transactions per second are not.
    Hurts because: the same work takes longer: somebody waits, even where no absolute rule is broken.
    Speaks for it: active sessions against the range of the past; the largest share of the time now.
    Speaks against it: transactions per second that rose as much: then there is more work, not slower work.
    Remedy: Follow the largest share of the time; compare with an interval of the past (doctord diagnose --from --to)
        to see which wait or statement grew, and ask what changed then.
    Verify: Active sessions are back within their range.
    Source: the proactive method of K. Manoharan, 2008: thresholds are set while all is well.
    """
    now, past = case.sampled_vitals.get(ACTIVE), case.usual.get(ACTIVE)
    if now is None or past is None or now.value < FELT_SESSIONS:
        return
    if now.value <= past.high or now.value < TIMES_USUAL * past.median:
        return
    load, usual_load = case.vitals.get("transactions"), case.usual.get("transactions")
    grown = load.value / usual_load.median if load and usual_load and usual_load.median else None
    busier = grown is not None and grown * past.median >= now.value / TIMES_USUAL
    largest = case.time.shares[0] if case.time.shares else None
    yield Claim(
        phrase("{:.1f} sessions are active where {:.1f} were usual", now.value, past.median),
        impact=1 - past.median / now.value,
        confidence=0.4 if busier else 0.6,
        for_=[
            *case.against_past(ACTIVE),
            *(
                [
                    Evidence(
                        "session",
                        f"event = '{largest.event}'",
                        phrase("{:share}", largest.share),
                        "",
                        "the largest share now",
                    )
                ]
                if largest
                else []
            ),
        ],
        against=[
            Evidence("earlier", "transactions", phrase("{:.1f} times the usual load", grown), "", "there is more work")
        ]
        if busier
        else [],
    )
