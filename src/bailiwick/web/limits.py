"""How often somebody may try: buckets that fill by tries and leak with time. Kept in memory, bounded."""

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bailiwick.base.errors import BusyError

_KEPT = 20_000
_AT_ONCE = threading.BoundedSemaphore(2)
"""A password takes 64 MB and a twentieth of a second to check."""
_PATIENCE_SECONDS = 5.0


class Bucket:
    """So many tries at once, then one in so many seconds, for each key by itself."""

    def __init__(self, burst: int, every_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._every, self._clock = burst, every_seconds, clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_seconds(self, key: str) -> float:
        """How long until the next try is allowed; 0 if it is now."""
        with self._lock:
            return max(0.0, (self._level(key) - self._burst + 1) * self._every)

    def add(self, key: str) -> None:
        """Count one try."""
        with self._lock:
            self._levels[key] = (min(self._level(key) + 1, self._burst + 1), self._clock())
            self._levels.move_to_end(key)
            while len(self._levels) > _KEPT:
                self._levels.popitem(last=False)

    def forget(self, key: str) -> None:
        with self._lock:
            self._levels.pop(key, None)

    def _level(self, key: str) -> float:
        level, at = self._levels.get(key, (0.0, 0.0))
        return max(0.0, level - (self._clock() - at) / self._every)


class LoginLimits:
    """Slow down guessing without a lock-out that could be used against others.

    From a device where a member has logged in before, only that device's own failures count for it: whoever guesses
    elsewhere, even behind the same address, cannot keep it out. All other tries share a bucket for their address and
    a wide one for the name, which a single address cannot fill.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._device = Bucket(10, 30, clock)
        self._address = Bucket(10, 30, clock)
        self._name = Bucket(60, 5, clock)

    def wait_seconds(self, *, name: str, address: str, device: str | None) -> float:
        """How long this try has to wait. `device` is given only if it is known as the member's own."""
        if device is not None:
            return self._device.wait_seconds(device)
        return max(self._address.wait_seconds(address), self._name.wait_seconds(name))

    def failed(self, *, name: str, address: str, device: str | None) -> None:
        if device is not None:
            self._device.add(device)
        else:
            self._address.add(address)
            self._name.add(name)

    def succeeded(self, *, device: str | None) -> None:
        if device is not None:
            self._device.forget(device)


@contextmanager
def turn() -> Iterator[None]:
    """A turn at checking or keeping a password, within a while: BusyError after that."""
    if not _AT_ONCE.acquire(timeout=_PATIENCE_SECONDS):
        raise BusyError("too many people log in at this moment", hint="try again in a few seconds")
    try:
        yield
    finally:
        _AT_ONCE.release()


def network_of(address: str) -> str:
    """Whom an address stands for: itself, or its /64, which one customer has as a whole."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:100]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)
