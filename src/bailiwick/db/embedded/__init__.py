"""A real PostgreSQL server with no set-up: found, initialised, started, watched and stopped by us alone.

The wheel only carries the binaries. Three lock files decide everything, because the kernel drops a lock when its
holder dies, however it dies, and no pid can be mistaken for it:

- `lock`     held while somebody starts, stops, upgrades or initialises the server;
- `running`  inherited by every process of the server, and by initdb and pg_upgrade: taken means that one is alive;
- `users`    held (shared) by every process of ours that uses it: free means that nobody does.
"""
