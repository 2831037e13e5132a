"""When a request arrived by the kernel's own word, however late a busy server comes to read it.

Linux notes the moment as the client hands its bytes over, and tells it to whoever looks at them before they are read.
"""

import socket
import struct
import sys
import time
from dataclasses import dataclass

_TIMESTAMPS = 35
"""SO_TIMESTAMPNS, which Python has no name for; also the type of the message that carries one."""
_MOMENT = struct.Struct("@qq")
_LAST_DATA = struct.Struct("=52xI")
"""tcpi_last_data_recv in Linux' tcp_info: milliseconds since the last bytes came in."""
_ESTABLISHED, _JUST_MADE = 1, 3
"""tcpi_state: TCP_ESTABLISHED, and TCP_SYN_RECV of a connection whose last handshake is under way."""
_CLOCK_MONOTONIC_COARSE = 6
_TICK_SECONDS = time.clock_getres(_CLOCK_MONOTONIC_COARSE) if sys.platform == "linux" else 0.0
_ROOM = 128
_LOOKS = 10
_BRIEF_SECONDS = 0.0002


def ask_for_arrivals(listener: socket.socket) -> None:
    """Have the kernel note when data comes in, on every connection that is accepted from now on."""
    if sys.platform == "linux":
        listener.setsockopt(socket.SOL_SOCKET, _TIMESTAMPS, 1)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A moment of the monotonic clock, and how far off it may be."""

    at: float
    blur: float = 0.0


class Arrivals:
    """The arrivals on one connection. It looks at a transport's socket without owning it: close it before that ends."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)

    def close(self) -> None:
        self._socket.detach()

    def next(self) -> Arrival | None:
        """Of the bytes that are read next; None if nothing lies there. Exact, but for two cases.

        The end of a connection is joined to bytes that still lie there, and its moment takes the place of theirs; and
        the kernel begins to stamp some time after it was first asked to. Then it is right within two ticks, if they are
        on time: in a virtual machine they may be late by far more, so nobody goes by them where there is a stamp.
        """
        if sys.platform != "linux":
            return None
        try:
            lying, told, _, _ = self._socket.recvmsg(1, _ROOM, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError:
            return None
        for level, kind, data in told:
            if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMPS):
                seconds, nanoseconds = _MOMENT.unpack_from(data)
                exact = Arrival(float(seconds) + float(nanoseconds) / 1e9 - _between_clocks())
                rough = self.last() if self._is_closed() else None
                return exact if rough is None or exact.at <= rough.at + rough.blur else rough
        return self.last() if lying else None

    def _is_closed(self) -> bool:
        """The other side has ended the connection: its end may have come with what lies there."""
        state = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        return state not in (_ESTABLISHED, _JUST_MADE)

    def last(self) -> Arrival | None:
        """Of the bytes that came last, read or not: all that can be known where TLS reads ahead of us.

        The kernel counts in its ticks, so one is taken off; in a virtual machine these may be late themselves.
        """
        if not hasattr(socket, "TCP_INFO"):
            return None
        for _ in range(_LOOKS):
            before = time.monotonic()
            info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA.size)
            now = time.monotonic()
            if now - before < _BRIEF_SECONDS:
                break
        return Arrival(now - max(0.0, float(_LAST_DATA.unpack(info)[0]) / 1000 - _TICK_SECONDS), 2 * _TICK_SECONDS)


def _between_clocks() -> float:
    """What the wall clock is ahead of the monotonic one; looked at again where another thread ran between the two."""
    for _ in range(_LOOKS):
        before = time.monotonic()
        wall = time.time()
        if time.monotonic() - before < _BRIEF_SECONDS:
            break
    return wall - before
