"""Causes: a folder by subject or vendor, one file per component, one function per cause. The engine loads them all."""
