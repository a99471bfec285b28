"""The sections of Oracle's reports, by subject: what their columns mean."""
