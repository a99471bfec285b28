"""Commands on capacity: profile, thresholds, forecast, report and sizes."""
