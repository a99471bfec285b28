"""Diagnosis: from symptoms to causes, with evidence both ways."""
