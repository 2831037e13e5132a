"""The local web: seeded sites in, real HTTP answers and a request log out. For tests, benchmarks and the demo.

    prose, themes -> trees -> sites (+ behaviours) -> answers -> server -> log

`sites.Web` knows its own reachable set, `running.serve` puts it on a loopback port in a thread of its own, and
`python -m bailiwick.demo.web` does so in a process of its own.
"""
