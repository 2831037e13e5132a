"""What texts tell: keywords, nearness in meaning, and what a language model says of them. Of use to several stages."""
