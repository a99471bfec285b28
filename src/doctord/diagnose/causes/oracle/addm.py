"""Oracle's own diagnostic monitor, where its report is all that there is."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.time import NOT_TOLD
from doctord.diagnose.addm import IMPACT, told
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, phrase

BEHIND = NotMeasured("the waits behind it", "an ADDM report does not list them", "the AWR report of the same snapshots")


@cause()
def addm_found(case: Case) -> Iterator[Claim]:
    """Oracle's own monitor found something, and no waits are there to judge it by.

    Looks like: an ADDM report alone, with findings that take a share of the activity.
    Hurts because: it is time of sessions; ADDM measures it as this doctor does.
    Speaks for it: the share of activity that ADDM gives it.
    Speaks against it: nothing here: the waits behind it are not in the report. Shares of ADDM's findings overlap.
    Remedy: What ADDM recommends, with the AWR report of the same snapshots read beside it.
    Verify: ADDM's report of the next interval with the same load.
    Source: K. Dias, M. Ramacher, U. Shaft, V. Venkataramani, G. Wood, "Automatic Performance Diagnosis and Tuning in
        Oracle", CIDR 2005.
    """
    if [share.event for share in case.time.shares] != [NOT_TOLD.event]:
        return
    for one in told(case):
        if case.worth_saying(one.share) and one.rows.startswith(f"name = '{IMPACT}'"):
            text, advice = _said(case, one.title)
            yield Claim(
                phrase("ADDM: {}: {:share of database}", one.title.rstrip("."), one.share),
                impact=one.share,
                confidence=0.7,
                for_=[Evidence("event", "kind = 'addm finding'", phrase("{:share of database}", one.share), "", text)],
                not_measured=[BEHIND],
                remedy=[advice] if advice else (),
            )


def _said(case: Case, title: str) -> tuple[str | Phrase, str]:
    """What ADDM says of a finding, and what it recommends."""
    events = case.dataset.frame("event").filter((pl.col("kind") == "addm finding") & (pl.col("subject") == title))
    text, hint = events.select("text", "hint").row(0) if events.height else ("", "")
    return (text or "").partition(" % of total activity. ")[2] or text or "", hint or ""
