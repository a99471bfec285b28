"""Faults of the memory and of the page cache."""
