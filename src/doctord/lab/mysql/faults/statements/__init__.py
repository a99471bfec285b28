"""Faults of what is asked."""
