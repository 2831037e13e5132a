"""Which extraction this is. Raised whenever the same body would be read otherwise: what was parsed before is stale."""

EXTRACTOR_VERSION = 3
