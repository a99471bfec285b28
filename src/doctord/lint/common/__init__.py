"""Rules that hold for the settings of several components."""
