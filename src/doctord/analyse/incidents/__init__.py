"""Incidents: when it was bad, and which incident of before that resembles."""
