"""Causes: a folder by whose they are, one file per component, one function per cause. The engine loads them all."""
