"""One plain request through the forward proxy, and its answer."""

import asyncio

from bailiwick.net.forward_heads import AnswerHead, MessageError, RequestHead, parse_answer
from bailiwick.net.forward_streams import Meter, Stream, TooMuchError, carry_body

_MOST_INTERIM_ANSWERS = 10


async def exchange(request: RequestHead, client: Stream, server: Stream, meter: Meter) -> None:
    """Pass a request and its answer on. MessageError if the request is broken, OSError if the answer is.

    Both at the same time: a server may answer before it has read all of a body.
    """
    sending = asyncio.create_task(_send(request, client, server, meter))
    try:
        await _pass_on_answer(request, client, server, meter)
    except OSError:
        if sending.done():
            sending.result()  # the request's own fault, if it has one
        raise
    finally:
        sending.cancel()
        await asyncio.wait({sending})
        _ = sending.cancelled() or sending.exception()


async def _send(request: RequestHead, client: Stream, server: Stream, meter: Meter) -> None:
    """The request as it may go out. If it breaks off, so does the connection to the server."""
    try:
        await server.send(request.passed_on())
        if request.waits_for_permission:
            await client.send(b"HTTP/1.1 100 Continue\r\n\r\n", is_interim=True)
        await carry_body(client, server, request.body, meter)
    except OSError:
        pass  # the server may have answered all the same
    except (MessageError, TooMuchError):
        server.abort()
        raise


async def _pass_on_answer(request: RequestHead, client: Stream, server: Stream, meter: Meter) -> None:
    try:
        answer = await _final_answer(request, client, server, meter)
        await client.send(answer.passed_on())
        await carry_body(server, client, answer.body, meter)
    except MessageError as error:
        raise ConnectionAbortedError(f"the server's answer: {error}") from error


async def _final_answer(request: RequestHead, client: Stream, server: Stream, meter: Meter) -> AnswerHead:
    """The answer itself; hints before it are passed on to clients that know of such things."""
    for _ in range(_MOST_INTERIM_ANSWERS):
        raw = await server.read_head()
        meter.carried(len(raw))
        answer = parse_answer(raw, request.method)
        if not answer.is_interim:
            return answer
        if request.version == "HTTP/1.1":
            await client.send(answer.passed_on(), is_interim=True)
    raise MessageError("There is no end of hints.")
