"""What other tools left in files: one file per format."""
