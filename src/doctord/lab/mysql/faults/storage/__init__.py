"""Faults of reads, writes and the log."""
