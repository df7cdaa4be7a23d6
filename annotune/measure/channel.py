"""The connection between those who ask for runs and a forker: whole messages, and descriptors.

A socket, and not two pipes: it has no name under ``/proc`` by which a variant could open it.
"""

from __future__ import annotations

import array
import json
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any

Message = dict[str, Any]

_LENGTH = struct.Struct("=Q")
_MOST_DESCRIPTORS = 8
_CHUNK_BYTES = 1 << 16


class Channel:
    """One end of a connection. Messages are JSON, each behind its length.

    `look` is called whenever nothing has moved for `look_every_s` seconds, and may raise.
    """

    def __init__(
        self,
        end: socket.socket,
        look_every_s: float | None = None,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._end = end
        self._look = look
        end.settimeout(look_every_s)

    def fileno(self) -> int:
        """Return the descriptor, which turns readable when a message or the end comes."""
        return self._end.fileno()

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send one message, and open descriptors with it.

        Raises:
            OSError: The other end is closed.
        """
        text = json.dumps(message).encode()
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
        head, ancillary = _LENGTH.pack(len(text)), [rights] if descriptors else []
        # Its few bytes go at once or not at all.
        self._patiently(self._end.sendmsg, [head], ancillary)
        sent = 0
        while sent < len(text):
            sent += self._patiently(self._end.send, text[sent : sent + _CHUNK_BYTES])

    def receive(self) -> tuple[Message, list[int]] | None:
        """Return the next message with its descriptors, None where the other end is closed.

        Raises:
            OSError: It was closed in the middle of something.
        """
        head, descriptors, _, _ = self._patiently(
            socket.recv_fds, self._end, _LENGTH.size, _MOST_DESCRIPTORS
        )
        if not head:
            return None
        (length,) = _LENGTH.unpack(head)
        text = bytearray()
        while len(text) < length:
            chunk = self._patiently(self._end.recv, min(_CHUNK_BYTES, length - len(text)))
            if not chunk:
                raise ConnectionResetError("closed within a message")
            text += chunk
        return json.loads(text), list(descriptors)

    def close(self) -> None:
        self._end.close()

    def _patiently(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """Return what `step` gives for its arguments, looking around while it cannot be done."""
        while True:
            try:
                return step(*arguments)
            except TimeoutError:
                self._look()
