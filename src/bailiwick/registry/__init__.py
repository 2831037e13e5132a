"""The domain record. In: names, decisions, leases; out: one governed row a domain and a queue that agrees with it."""
