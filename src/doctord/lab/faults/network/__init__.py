"""Faults of the way between the server and its clients."""
