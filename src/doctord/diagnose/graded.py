"""Severity by how much service is lost at all: a large share of hardly any time is no emergency."""

from dataclasses import replace
from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.finding import Claim

# Half a session, on average: somebody waits for this at every other moment.
CRITICAL_SESSIONS: Final = 0.5


def by_lost_service(case: Case, claim: Claim) -> Claim:
    """A claim that is critical by its share alone as a warning, where the share is of less than half a session.

    What a cause grades itself stays, and so does a share of time that is not the database's, or of which is not told
    how much it was.
    """
    share = claim.cost.share
    is_by_share = claim.severity is None and claim.graded == "critical" and claim.time_of is None
    if share is None or not is_by_share or case.time.of != "database" or not case.time.seconds:
        return claim
    is_little = share * case.time.seconds_per_second < CRITICAL_SESSIONS
    return replace(claim, severity="warning") if is_little else claim
