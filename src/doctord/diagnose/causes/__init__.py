"""Causes: one file per organ, one function per cause. Every module here is found and loaded by the engine."""
