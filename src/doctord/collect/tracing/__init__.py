"""System calls of a running process: a log of strace, or sums that bpftrace made in the kernel."""
