"""The log's moment of arrival is the kernel's, not the server's."""

import socket
import sys
import time

import pytest

from bailiwick.demo.web.arrivals import Arrivals, ask_for_arrivals

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


def test_a_request_that_lay_there_is_known_by_its_arrival() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ask_for_arrivals(listener)
        with socket.create_connection(listener.getsockname()) as client:
            begun = time.monotonic()
            client.sendall(b"first, before it is accepted")
            sent = time.monotonic()
            time.sleep(0.05)
            accepted, _ = listener.accept()
            with accepted:
                arrivals = Arrivals(accepted.fileno())
                first = arrivals.next()
                assert first is not None
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
                arrivals.close()
                assert accepted.recv(100) == b"second", "the connection is not its own"


def test_a_client_that_hung_up_since_changes_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ask_for_arrivals(listener)
        with socket.create_connection(listener.getsockname()) as client:
            begun = time.monotonic()
            client.sendall(b"hello")
            time.sleep(0.1)
        accepted, _ = listener.accept()
        with accepted:
            arrivals = Arrivals(accepted.fileno())
            found = arrivals.next()
            arrivals.close()
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
            arrivals = Arrivals(accepted.fileno())
            found = arrivals.last()
            arrivals.close()
            assert found is not None
            assert 0 < found.blur <= 0.02
            assert begun - 0.01 <= found.at <= begun + 0.03
