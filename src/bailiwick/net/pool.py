"""Connections: opened under the guard, kept for the next request to the same origin, closed once they are old."""

import asyncio
import ipaddress
import socket
import ssl
from weakref import WeakSet

from bailiwick.base.sections import NetSettings
from bailiwick.net.connecting import connected
from bailiwick.net.connection import Connection
from bailiwick.net.destination import Origin
from bailiwick.net.guard import AddressRefusedError, Guard, target
from bailiwick.net.resolver import Place, RememberedNames, place_at
from bailiwick.net.trust import trust
from bailiwick.ports import FailureKind

_KEPT_SECONDS = 15.0


class NoConnectionError(Exception):
    """There is none, and why."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Pool:
    """The connections of one client. Made inside a running loop; close it. As many are open as are asked for."""

    def __init__(self, settings: NetSettings, guard: Guard, names: RememberedNames) -> None:
        self._settings, self._guard, self._names = settings, guard, names
        self._loop = asyncio.get_running_loop()
        self._kept_seconds = min(_KEPT_SECONDS, settings.idle_timeout_seconds / 2)
        self._idle: dict[Origin, list[Connection]] = {}
        self._open: WeakSet[Connection] = WeakSet()
        self._is_closed = False
        self._sweeping: asyncio.TimerHandle | None = None
        # A file of the operator's that is none is told at once; the system's authorities are read if they are needed.
        self._trust = trust(settings) if settings.extra_ca_file is not None else None

    def take(self, origin: Origin) -> Connection | None:
        """One that was kept for this origin and is still good, the youngest first."""
        kept = self._idle.get(origin)
        while kept:
            connection = kept.pop()
            if connection.is_quiet and self._loop.time() - connection.kept_at <= self._kept_seconds:
                return connection
            connection.close()
        return None

    def keep(self, origin: Origin, connection: Connection) -> None:
        """For another request; nothing is on its way on it. One that is closed is let go."""
        if not connection.is_open:
            return
        connection.kept_at = self._loop.time()
        self._idle.setdefault(origin, []).append(connection)
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(self._kept_seconds, self._sweep)

    async def open(self, origin: Origin) -> Connection:
        """A new connection. NoConnectionError, AddressRefusedError, TimeoutError; ValueError if this is no name."""
        places = await self._places(origin)
        tls = self._context() if origin.scheme == "https" else None
        target.set((origin.host, origin.port))
        try:
            async with asyncio.timeout(self._settings.connect_timeout_seconds):
                connection = await self._connect(origin, places, tls)
        except AddressRefusedError:
            raise
        except TimeoutError as error:
            raise TimeoutError(f"no connection to {origin} in time") from error
        except OSError as error:
            kind = FailureKind.TLS if isinstance(error, ssl.SSLError) else FailureKind.CONNECT
            raise _no_connection(kind, origin, error) from error
        if self._is_closed:
            connection.close()
            raise NoConnectionError(FailureKind.CONNECT, "the client is closed")
        self._open.add(connection)
        return connection

    async def close(self) -> None:
        """All connections; who still waits for an answer gets none."""
        self._is_closed = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in list(self._open):
            connection.close()
        self._idle.clear()
        await self._names.close()
        await asyncio.sleep(0)  # the loop closes the sockets

    async def _places(self, origin: Origin) -> list[Place]:
        if origin.is_literal:
            return [place_at(_canonical(origin.host), origin.port)]
        try:
            return await self._names.places(origin.host, origin.port)
        except AddressRefusedError:
            raise
        except OSError as error:
            silent = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            raise _no_connection(FailureKind.TIMEOUT if silent else FailureKind.DNS, origin, error) from error

    async def _connect(self, origin: Origin, places: list[Place], tls: ssl.SSLContext | None) -> Connection:
        """To the first address that answers; if its certificate is bad, to the others."""
        while True:
            reached = await connected(self._guard, places)
            try:
                peer = reached.getpeername()[:2]
                return await self._started(origin, reached, tls)
            except ssl.SSLError:
                reached.close()
                others = [place for place in places if place[4][:2] != peer]
                if not others or len(others) == len(places):
                    raise
                places = others
            except BaseException:
                reached.close()
                raise

    async def _started(self, origin: Origin, reached: socket.socket, tls: ssl.SSLContext | None) -> Connection:
        _, connection = await self._loop.create_connection(
            lambda: Connection(self._loop, self._settings.idle_timeout_seconds),
            sock=reached,
            ssl=tls,
            server_hostname=origin.host.rstrip(".") if tls is not None else None,
        )
        return connection

    def _context(self) -> ssl.SSLContext:
        if self._trust is None:
            self._trust = trust(self._settings)
        return self._trust

    def _sweep(self) -> None:
        """Let go of what is closed or old, and of origins that nothing is kept for."""
        self._sweeping = None
        oldest = self._loop.time() - self._kept_seconds
        for origin, kept in list(self._idle.items()):
            good = [connection for connection in kept if connection.is_open and connection.kept_at > oldest]
            for connection in kept:
                if connection not in good:
                    connection.close()
            if good:
                self._idle[origin] = good
            else:
                del self._idle[origin]
        if self._idle:
            self._sweeping = self._loop.call_later(self._kept_seconds, self._sweep)


def _canonical(host: str) -> str:
    """An address as it is; ValueError for 127.1 and other short forms, whatever the system makes of them."""
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise ValueError(f"{host} is not a canonical address") from error
    return host


def _no_connection(kind: FailureKind, origin: Origin, error: OSError) -> NoConnectionError:
    return NoConnectionError(kind, f"Cannot connect to host {origin} [{error.strerror or error}]")
