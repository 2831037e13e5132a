"""Members: the people (and the system) in whose name everything happens."""
