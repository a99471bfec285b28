"""Who met a message of the server's log: users, databases, applications and clients."""

from doctord.analyse.errors import Logged, met
from doctord.diagnose.case import Case
from doctord.diagnose.phrase import Words, listed, phrase

MOST_NAMED = 3


def met_by(case: Case, one: Logged) -> Words:
    """Those who met it most, each with how often; empty where the log does not tell."""
    told = [phrase("{} ({:.0f})", who, count) for who, count in met(case.dataset, one)[:MOST_NAMED]]
    return listed(*told, by="; ") if told else ""
