"""Access: clients that are turned away at their logins, and files that say otherwise than the server does."""
