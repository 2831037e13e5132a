"""An approved domain in; pages fetched under a lease, within budgets, out."""
