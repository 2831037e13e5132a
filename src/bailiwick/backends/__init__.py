"""Every vendor's SDK, each behind a port: `<port>_<vendor>.py`. Only `app.py` chooses among them."""
