"""Images of a page. In: its HTML; out: every reference to an image, in order, and the rows that keep them."""
