"""Approve: people decide on domains. In: a domain, a verb and a reason; out: its new state and the event."""
