"""A law whose routers state a rate: each offers all flows the same, and the least offer counts."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

import ratewire
from ratewire import Ack, Flow, Link, Sending


class Offers(ratewire.Law):
    """Each router offers all flows one rate, which it raises while its link has room."""

    name = "offers-py"
    goes_by_pace = True
    equal_shares = True
    #: The least offer so far in bytes per second, and 1 on the way back.
    header_length = 9
    fill = ratewire.option(0.95, min=0.1, max=1.0, doc="share of a link that flows are to fill")

    def start(self, flow: Flow) -> None:
        self.line_rate = flow.line_rate
        self.window = 1000.0 * flow.mss
        self.pace = flow.line_rate / 100

    def on_send(self, sending: Sending) -> bytes:
        return struct.pack(">dB", self.line_rate, 0)

    def on_ack(self, ack: Ack) -> None:
        if ack.header is not None:
            offer, _ = struct.unpack(">dB", ack.header)
            # Bytes from elsewhere may be no number.
            if offer >= 0:
                self.pace = min(max(offer, 1000.0), self.line_rate)

    @classmethod
    def returned(cls, header: bytes) -> bytes:
        return header[:8] + b"\1"

    class Port(ratewire.Port):
        interval = 0.02
        fill: float

        def start(self, link: Link) -> None:
            self.target = self.fill * link.rate
            self.offer = self.target / 20
            self.arrived = 0

        def on_arrival(
            self, now: float, size: int, header: bytearray | None, queue: tuple[int, int]
        ) -> None:
            self.arrived += size
            if header is not None and header[8] == 0:
                (offer,) = struct.unpack(">d", header[:8])
                header[:8] = struct.pack(">d", min(offer, self.offer))

        def on_interval(self, now: float, queue: tuple[int, int]) -> None:
            """Raises the offer by a tenth of the free share; the queue should drain in 0.5 s."""
            free = self.target - self.arrived / 0.02 - queue[0] / 0.5
            if self.target > 0:
                change = min(max(0.1 * free / self.target, -0.5), 0.5)
                least = 0.001 * self.target
                self.offer = min(max(self.offer * (1 + change), least), self.target)
            self.arrived = 0

        def on_rate_change(self, rate: float) -> None:
            self.target = self.fill * rate

        def figures(self) -> dict[str, float]:
            return {"offer": self.offer}

    class Books(ratewire.Books):
        """A packet leaves with the lesser of two offers, and the last that came is returned."""

        last: bytes

        def departed(
            self,
            size: int,
            was: bytes,
            is_: bytes,
            before: Mapping[str, float],
            after: Mapping[str, float],
        ) -> None:
            came, returns = struct.unpack(">dB", was)
            left, _ = struct.unpack(">dB", is_)
            if returns == 0 and not math.isnan(came):
                least = min(came, before["offer"])
                assert left == least, f"a packet left with an offer of {left}, not {least}"

        def received(self, header: bytes) -> None:
            self.last = header[:8]

        def answered(self, header: bytes) -> None:
            assert header[:8] == self.last, "a receiver returned another offer than it got"
