"""Causes: one file per component, one function per cause. Every module here is found and loaded by the engine."""
