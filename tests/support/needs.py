"""What a test needs of the machine, and the reason with which it is skipped where that is not to be had."""

import os

import pytest

from doctord._native import CallCounter
from doctord.collect.bpf import bpftrace

_hindrance = bpftrace.hindrance()
needs_bpftrace = pytest.mark.skipif(_hindrance is not None, reason=" - ".join(_hindrance or ()))


# What a machine may refuse; that the kernel takes no such program is our own fault.
_REFUSALS = ("not permitted", "Permission denied", "No such file", "in a container", "Function not implemented")


def _refused_call_counts() -> str | None:
    try:
        CallCounter([os.getpid()], [], [])
    except OSError as refusal:
        told = str(refusal)
        return told if any(words in told for words in _REFUSALS) else None
    return None


_refusal = _refused_call_counts()
needs_call_counts = pytest.mark.skipif(_refusal is not None, reason=f"no system calls are counted: {_refusal}")
