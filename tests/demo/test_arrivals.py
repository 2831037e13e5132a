"""The log's moment of arrival is the kernel's, not the server's."""

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from bailiwick.demo.web.arrivals import Arrivals, ask_for_arrivals

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """One whose kernel has begun to stamp: it does so from a task of its own, some time after the first who asks."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        ask_for_arrivals(made)
        for _ in range(200):
            with socket.create_connection(made.getsockname()) as client:
                client.sendall(b"?")
                accepted, _ = made.accept()
                with accepted, closing(Arrivals(accepted.fileno())) as arrivals:
                    found = arrivals.next()
                    assert found is not None, "known at least roughly from the first byte on"
                    if not found.blur:
                        break
            time.sleep(0.01)
        yield made


def test_a_request_that_lay_there_is_known_by_its_arrival(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as client:
        begun = time.monotonic()
        client.sendall(b"first, before it is accepted")
        sent = time.monotonic()
        time.sleep(0.05)
        accepted, _ = listener.accept()
        with accepted:
            with closing(Arrivals(accepted.fileno())) as arrivals:
                first = arrivals.next()
                assert first is not None
                assert not first.blur
                assert begun - 0.001 <= first.at <= sent + 0.001
                assert accepted.recv(100) == b"first, before it is accepted", "looking takes nothing away"
                assert arrivals.next() is None, "nothing lies there"
                begun = time.monotonic()
                client.sendall(b"second")
                sent = time.monotonic()
                time.sleep(0.05)
                second = arrivals.next()
                assert second is not None
                assert begun - 0.001 <= second.at <= sent + 0.001
            assert accepted.recv(100) == b"second", "the connection is not its own"


def test_bytes_without_a_stamp_are_known_within_two_ticks() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_connection(silent.getsockname()) as client:
        begun = time.monotonic()
        client.sendall(b"hello")
        time.sleep(0.05)
        accepted, _ = silent.accept()
        with accepted, closing(Arrivals(accepted.fileno())) as arrivals:
            found = arrivals.next()
        assert found is not None
        assert 0 < found.blur <= 0.02
        assert abs(found.at - begun) < 0.03


def test_a_client_that_hung_up_since_changes_nothing(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as client:
        begun = time.monotonic()
        client.sendall(b"hello")
        time.sleep(0.1)
    accepted, _ = listener.accept()
    with accepted, closing(Arrivals(accepted.fileno())) as arrivals:
        found = arrivals.next()
    assert found is not None
    assert abs(found.at - begun) <= 0.001 + found.blur < 0.05


def test_what_was_read_already_is_known_within_two_ticks() -> None:
    """As TLS reads it: before anybody can look."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, _ = listener.accept()
        with accepted:
            begun = time.monotonic()
            client.sendall(b"hello")
            assert accepted.recv(100) == b"hello"
            time.sleep(0.05)
            with closing(Arrivals(accepted.fileno())) as arrivals:
                found = arrivals.last()
            assert found is not None
            assert 0 < found.blur <= 0.02
            assert begun - 0.01 <= found.at <= begun + 0.03
