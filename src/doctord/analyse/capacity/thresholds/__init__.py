"""Thresholds and service levels: as data, held against what was measured, proposed; how severe a breach is."""
