"""Who explains whom, measured: what sessions wait for locks behind, and whose finding that is.

A row is held as long as its holder's transaction takes. Where the holder waits for the log, a standby, a disk or a CPU,
and that wait has a finding of its own, the row locks are a symptom of it. So they are where it waits for a lock of
another kind: of a table, or of the application's own making. A hot row whose holders are at work, or wait
no longer than is usual, has no such finding, and stays what it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from doctord.analyse.locking.locks import IDLE_IN_TRANSACTION, LOCKS
from doctord.diagnose.case import Case
from doctord.diagnose.cause import CAUSES
from doctord.diagnose.finding import Claim, Evidence, Impact
from doctord.diagnose.phrase import Phrase, listed, phrase

# With the other cause gone, more than half of the waiting would be gone.
MOST = 0.5
MOST_EVENTS = 2
DOING = {"CPU": "want a CPU", IDLE_IN_TRANSACTION: "are idle in their transactions"}

Named = tuple[str, Claim]


class Behind(NamedTuple):
    """A finding behind whose waits others wait for locks: its cause, and the part (0 to 1) of those waits."""

    cause: str
    part: float


def by_waits(case: Case, claims: Sequence[Named]) -> tuple[list[Named], Mapping[str, str | None]]:
    """What waits behind the sessions that wait for a cause's own waits belongs to that cause.

    Returns:
        The claims, those that hold such time with it added to their impact, and those about locks with what their
        holders did; and for each cause about locks whose holders were seen the one that explains it, null for none.
    """
    holding = _worst(claims)
    symptoms = _acyclic({name: _behind(case, name, holding) for name in holding if _is_measured(case, name)}, holding)
    told = [
        (name, _told(case, name, claim, symptoms.get(name)) if holding.get(name) is claim else claim)
        for name, claim in claims
    ]
    return told, {name: behind.cause if behind else None for name, behind in symptoms.items()}


def _worst(claims: Sequence[Named]) -> dict[str, Claim]:
    """Of each cause that holds time of its own the claim that holds most; what a cause calls a note is nothing ill."""
    found = dict[str, Claim]()
    for name, claim in claims:
        share = claim.cost.share
        if not CAUSES[name].waits or share is None or not claim.explains_waits or claim.severity == "note":
            continue
        if name not in found or share > (found[name].cost.share or 0.0):
            found[name] = claim
    return found


def _locks(name: str) -> list[str]:
    """The kinds of lock that a cause is about."""
    return [kind for kind in CAUSES[name].waits if kind in LOCKS]


def _is_measured(case: Case, name: str) -> bool:
    return case.roots.part(_locks(name), ()) is not None


def _behind(case: Case, name: str, holding: Mapping[str, Claim]) -> Behind | None:
    """The finding behind whose waits most of the waiting for a cause's locks stands; null where there is none.

    Of several with the same waits the one that is no symptom of another.
    """
    found = [
        Behind(other, (case.roots.part(_locks(name), CAUSES[other].waits, claim.database) or 0.0))
        for other, claim in holding.items()
        if other != name
    ]
    most = [behind for behind in found if behind.part * _of_its_waits(case, behind.cause, holding) >= MOST]
    causes = [behind.cause for behind in most]
    return max(most, key=lambda it: (round(it.part, 2), not _is_symptom(it.cause, causes)), default=None)


def _acyclic(symptoms: Mapping[str, Behind | None], holding: Mapping[str, Claim]) -> dict[str, Behind | None]:
    """The same where of two kinds of lock that stand behind each other the one that holds more time is no symptom."""

    def holds(name: str) -> tuple[float, str]:
        return holding[name].cost.share or 0.0, name

    def is_mutual(name: str, behind: Behind) -> bool:
        back = symptoms.get(behind.cause)
        return back is not None and back.cause == name

    return {
        name: None if behind and is_mutual(name, behind) and holds(name) > holds(behind.cause) else behind
        for name, behind in symptoms.items()
    }


def _is_symptom(name: str, causes: Sequence[str]) -> bool:
    return any(name in CAUSES[cause].explains for cause in causes)


def _of_its_waits(case: Case, name: str, holding: Mapping[str, Claim]) -> float:
    """The part (0 to 1) of its kinds of wait that a cause claims: the device was slow for half of the time, say."""
    own = case.time.kind_share(*CAUSES[name].waits)
    return min((holding[name].cost.share or 0.0) / own, 1.0) if own else 1.0


def _told(case: Case, name: str, claim: Claim, behind: Behind | None) -> Claim:
    """A claim with what waits behind it, and with what its own waits stand behind."""
    if behind is not None:
        return replace(claim, for_=[*claim.for_, _its_root(case, _locks(name), behind)])
    return _enlarged(case, name, claim)


def _enlarged(case: Case, name: str, claim: Claim) -> Claim:
    """A claim with what would be won besides: what is waited for locks behind sessions that wait for this cause.

    A cause whose waits are no database time (an idle transaction) tells what waits behind it already.
    """
    waits = CAUSES[name].waits
    own, added = case.time.kind_share(*waits), case.roots.behind(waits, claim.database)
    added *= _of_its_waits(case, name, {name: claim})
    if not own or not case.worth_saying(added):
        return claim
    cost = claim.cost
    whole = Impact(min((cost.share or 0.0) + added, 1.0), cost.known)
    evidence = Evidence(
        "session",
        "blocker_sid is not null",
        phrase("{:share of database} waits for locks behind sessions that {}", added, _doing(case, waits)),
        "",
        "a lock is held as long as that takes: this time is won as well",
    )
    return replace(claim, impact=whole, for_=[*claim.for_[:1], evidence, *claim.for_[1:]])


def _its_root(case: Case, locks: Sequence[str], behind: Behind) -> Evidence:
    waits = CAUSES[behind.cause].waits
    return Evidence(
        "session",
        "blocker_sid is not null",
        phrase("{:share} of the waits for {}s are behind sessions that {}", behind.part,
               listed(*(lock for lock in locks if case.time.kind_share(lock)), by="s and "), _doing(case, waits)),
        phrase("{:share}", MOST),
        "the lock is held as long as that takes",
        "at_least",
    )  # fmt: skip


def _doing(case: Case, kinds: Sequence[str]) -> Phrase:
    """What sessions at the roots do, in the server's own words: which others wait for in the end."""
    events = case.roots.events(kinds)[:MOST_EVENTS]
    waits = listed(*(event for event in events if event not in DOING), by=" or ")
    return listed(phrase("wait for {}", waits) if waits.values else "", *_other(events), by=" or ")


def _other(events: Sequence[str]) -> list[str]:
    return [DOING[event] for event in events if event in DOING]
