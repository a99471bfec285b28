"""Statements: where their time goes, what they read, and which indexes and conditions they have."""
