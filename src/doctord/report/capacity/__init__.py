"""Profiles, forecasts, thresholds, saturation, and the capacity report."""
