"""What is told of the root of a blocking tree: who it is, on which server, and what was waited behind it."""

from doctord.analyse.locking.autovacuum import WORKER, gives_way, table_of
from doctord.analyse.locking.locks import Blocker
from doctord.dataset.tables import CLIENT
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened


def at(case: Case, database: str | None) -> str:
    """Which server, where there are several."""
    return f" on {database}" if database and len(case.dbs) > 1 else ""


def who(root: Blocker) -> str:
    """User and program of a root, or what process of the server's own it is."""
    if root.kind == WORKER:
        return f"autovacuum of {table_of(root.program) or 'a table'}"
    named = " ".join(part for part in (root.user, root.program) if part)
    return named or (root.kind if root.kind and root.kind != CLIENT else "unknown user")


def gives_way_to_whom_it_blocks(root: Blocker) -> bool:
    """Whether it is autovacuum, which is cancelled for whoever wants its lock: then who wants it is to be looked at."""
    return root.kind == WORKER and gives_way(root.program)


def _doing(event: str) -> Words:
    return "idle, in none" if event == "idle" else phrase("in {}", event)


def tree(case: Case, root: Blocker) -> Evidence:
    """How much was waited behind a root, by how many, and what it did meanwhile."""
    statement = case.statement_text(root.statement_id)
    idle = root.idle_blocked_s / root.blocked_s if root.blocked_s else 0.0
    age = "" if root.transaction_s is None else phrase(", its transaction {:.1f s} old", root.transaction_s)
    return Evidence(
        "session",
        f"blocker_sid = {root.sid}",
        phrase(
            "{:.0f s} waited behind session {}{} ({}), up to {:count session/sessions}",
            root.blocked_s,
            root.sid,
            at(case, root.db),
            who(root),
            root.waiters,
        ),
        "",
        "it gives way to who wants the lock, after deadlock_timeout: look at who that is"
        if gives_way_to_whom_it_blocks(root)
        else phrase(
            "it was idle in its transaction {:share} of that time{}{}{}",
            idle,
            age,
            phrase(", else mostly {}", _doing(root.event)) if root.event else "",
            phrase("; last statement: {}", shortened(statement)) if statement else "",
        ),
    )
