"""A fetched body in; content, relevance and items out, once for each distinct content."""
