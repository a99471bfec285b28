"""The face for assistants: a server of the Model Context Protocol, which reads lakes and changes nothing."""
