"""Images for people: lists by domain, page and likeness; one image with all its pages."""
