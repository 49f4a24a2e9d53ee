"""Messages that arrive over time."""

from __future__ import annotations

from hashlane import _hashlane

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio


class Queue:
    """Hashes messages of many tasks of an event loop side by side.

    A short message is hashed at once. Longer messages that arrive before the loop is idle are hashed by one call, which fills the
    lanes of the CPU. A long call runs on a thread, so that the loop continues.

    Parameters
    ----------
    algorithm : str
        A name of ``algorithms_available``.

    Examples
    --------
    >>> import asyncio
    >>> async def main() -> list[bytes]:
    ...     queue = Queue("sha1")
    ...     return await asyncio.gather(*(queue.digest(b"%d" % i) for i in range(100)))
    >>> len(asyncio.run(main()))
    100
    """

    SHORT = 4 << 10
    """Bytes of a message that is hashed alone: that takes less time than a second turn of its task."""

    IN_LOOP = 64 << 10
    """Bytes that are hashed in the loop itself: about 20 microseconds. More run on a thread."""

    def __init__(self, algorithm: str = "sha256") -> None:
        _hashlane.new(algorithm)
        self._algorithm = algorithm
        # A constructor of its own takes less time than `new`.
        constructor = getattr(_hashlane, algorithm, None)
        self._hash = constructor or (lambda message: _hashlane.new(algorithm, message))
        self._waiting: list[tuple[bytes | memoryview, asyncio.Future[bytes]]] = []

    async def digest(self, message: bytes | bytearray | memoryview) -> bytes:
        """Returns the digest of a message.

        Raises
        ------
        TypeError
            The message is not a bytes-like object. Other messages are not affected.
        BufferError
            The message is not contiguous.
        """
        if isinstance(message, bytes):
            n_bytes = len(message)
        else:
            # A view of our own: the message can change and its view can be released before it is hashed.
            message = memoryview(message)
            if not message.c_contiguous:
                raise BufferError("the message is not contiguous: copy it first")
            n_bytes = message.nbytes
        if n_bytes <= self.SHORT:
            digest: bytes = self._hash(message).digest()
            return digest

        # Programs with an event loop have imported it. Others need it no sooner, and it takes longer than all of this package.
        import asyncio

        loop = asyncio.get_running_loop()
        future: asyncio.Future[bytes] = loop.create_future()
        if not self._waiting:
            # Tasks that can run now run before this call.
            loop.call_soon(self._start, loop)
        self._waiting.append((message, future))
        return await future

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, self._waiting = self._waiting, []
        waiting = [(message, future) for message, future in waiting if not future.cancelled()]
        messages = [message for message, _ in waiting]
        n_bytes = sum(len(message) if isinstance(message, bytes) else message.nbytes for message in messages)
        if n_bytes <= self.IN_LOOP:
            self._finish(waiting, self._digest(messages))
            return
        task = loop.run_in_executor(None, self._digest, messages)
        task.add_done_callback(lambda done: self._finish(waiting, done.result()))

    def _digest(self, messages: list[bytes | memoryview]) -> list[bytes] | BaseException:
        try:
            return _hashlane.digest_many(messages, self._algorithm)
        except BaseException as error:  # noqa: BLE001 - the tasks that wait receive it
            return error

    @staticmethod
    def _finish(
        waiting: list[tuple[bytes | memoryview, asyncio.Future[bytes]]],
        digests: list[bytes] | BaseException,
    ) -> None:
        for index, (_, future) in enumerate(waiting):
            if future.done():
                continue
            if isinstance(digests, BaseException):
                future.set_exception(digests)
            else:
                future.set_result(digests[index])
