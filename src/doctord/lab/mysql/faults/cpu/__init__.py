"""Faults of CPUs: who takes them."""
