"""The one database: where it is, how it is started, its tables and how they change. In: settings; out: connections."""
