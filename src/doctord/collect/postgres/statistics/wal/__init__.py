"""Where the log goes: archive, standbys, subscriptions, and what holds these up."""
