"""Access: clients that do not get in or no answer, what stands before the server, and who keeps its connections."""
