"""The one audit trail. In: a verb on a state, a changed setting; out: the change and its event, or neither."""
