"""Faults of the service itself: the server goes away, or its clients do."""
