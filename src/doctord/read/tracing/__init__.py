"""Tracers: strace, truss, perf trace, bpftrace, DTrace, SystemTap, blktrace, PyLatencyMap."""
