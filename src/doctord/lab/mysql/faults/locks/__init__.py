"""Faults of locks and old row versions: who waits for whom."""
