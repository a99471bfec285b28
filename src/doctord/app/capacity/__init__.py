"""Figures over weeks and years: their thresholds, profiles, forecasts and what-ifs, of a lake or of files."""
