"""A domain's name in; what registries and its certificate say of it out, and layer 1 of an evaluation."""
