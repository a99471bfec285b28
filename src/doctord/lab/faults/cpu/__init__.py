"""Faults of the CPUs: who runs, and for how long."""
