"""The pure heart: names, states and the tables of their moves. No I/O, no clock."""
