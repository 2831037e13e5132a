"""Programs that measure: figures with their raw samples; nothing outside a temporary directory is changed."""
