"""Prompts: how to go about an incident, and about a look at the week."""

from typing import Annotated

from pydantic import Field


def incident(
    complaint: Annotated[str, Field(description="What people complain of.")],
    since: Annotated[str, Field(description="When it began: 2026-11-20T10:00Z or -2h.")] = "-1h",
    until: Annotated[str, Field(description="When it ended; empty: it goes on.")] = "",
) -> str:
    """Find the cause of an incident, and say what to do."""
    window = f"since={since}" + (f", until={until}" if until else "")
    return f"""Users complain: {complaint}

Find the cause with Doctor D.
1. `servers`: is the time covered ({window})? If a lake ends before it, say so and stop.
2. `diagnose` with {window}. Take the worst finding without `explained_by`; name what could not be judged.
3. `explain_finding` for it: evidence for, evidence against, and what could not be seen.
4. Where no finding explains the time: `load_by` wait_class, then event, statement, program and blocker, the largest
   part each time, and `latency_map` where averages may hide something.
5. `what_changed` with the same window: what is new may be why.
Answer with the cause, how sure it is and the figures that say so, what speaks against it, the remedy as text for a
person to carry out, and how to verify that it helped. Say "I cannot tell; collect this" where that is the truth."""


def weekly_review() -> str:
    """Look at the last week: health, what got worse, what runs out, what settings get wrong."""
    return """Review the last week with Doctor D, server by server.
1. `servers`: which lakes end now, and which are stale.
2. `diagnose` with since=-7d: findings of the week, and the bad minutes in `others`.
3. `compare_windows` with before=-14d..-7d and after=-7d..-1m: regressions beyond chance.
4. `what_changed` with since=-7d: settings, plans and load.
5. `capacity`: what is violated, what will be, and when.
6. `lint`: new violations above a note.
Answer with one page: who is ill, what got worse and since when, what runs out and when, what to do first and why, and
what could not be judged."""


PROMPTS = (incident, weekly_review)
