"""What a test needs of the machine, and the reason with which it is skipped where that is not to be had."""

import pytest

from doctord.collect.bpf import bpftrace

_hindrance = bpftrace.hindrance()
needs_bpftrace = pytest.mark.skipif(_hindrance is not None, reason=" - ".join(_hindrance or ()))
