"""Faults of locks and snapshots: who waits for whom."""
