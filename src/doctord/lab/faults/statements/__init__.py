"""Faults of statements and their plans."""
