"""A page and what is known of its site and domain in; three layers of evidence and one confidence out."""
