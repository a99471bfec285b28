"""Incidents: kept, found again, and looked for."""
