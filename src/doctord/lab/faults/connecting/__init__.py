"""Faults of connecting: who waits to be let in."""
