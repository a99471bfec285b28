"""What runs out, and when: figures over weeks and years, their thresholds, and where they go."""
