"""Finding and taking away. In: what was parsed, told by the outbox; out: search results and export files."""
