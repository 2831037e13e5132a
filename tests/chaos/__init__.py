"""Crash safety, tried: a driver that kills, stops and cuts off, and a judge that counts afterwards. `make chaos`."""
