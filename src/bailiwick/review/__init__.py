"""Evaluations in; approved, rejected or queued by bands, and what people decide about the queue, out."""
