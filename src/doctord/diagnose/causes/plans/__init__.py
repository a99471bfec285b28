"""Of how statements are planned, where their plans were read."""
