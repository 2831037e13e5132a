"""Questions that are under way: who asks the same meanwhile gets the same answer."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")


class Once(Generic[Answer]):
    """One task for each thing that is asked. Whoever stops waiting does not end it for the others."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Answer]] = {}

    async def ask(self, about: str, question: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
        task = self._tasks.get(about)
        if task is None:
            task = asyncio.get_running_loop().create_task(question())
            self._tasks[about] = task
            task.add_done_callback(lambda _: self._tasks.pop(about, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End what is under way."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
