"""Measuring with bpftrace: latencies, and the sums of system calls."""
