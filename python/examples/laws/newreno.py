"""NewReno (RFC 5681, RFC 6582) in Python: by acknowledgement, and once a round trip."""

from __future__ import annotations

import math

import ratewire
from ratewire import Ack, Congestion, Flow, Interval, Sending


class NewReno(ratewire.Law):
    """TCP NewReno, acknowledgement by acknowledgement.

    The windows are those of Ratewire's own ``newreno`` with its default options.
    """

    name = "newreno-py"
    goes_by_losses = True
    small_queues = True
    initial_window = ratewire.option(
        "10 packets", kind="size", doc="window until the first acknowledgement. RFC 6928, 2."
    )

    def start(self, flow: Flow) -> None:
        self.mss = flow.mss
        self.initial = max(math.floor(self.initial_window + 0.5), flow.mss)
        self.window = float(self.initial)
        self.ssthresh = math.inf
        self.acked = 0.0
        self.last_sent: float | None = None
        #: Congestion to which the sender still responds: one response a window (RFC 3168, 6.1.2).
        self.repairing = False
        self.marked_until: float | None = None
        self.backed_off = False
        self.after_timeout = False
        #: Window and threshold before the repair, if it may be undone.
        self.before: tuple[float, float] | None = None

    def on_send(self, sending: Sending) -> None:
        """Nothing sent for longer than the timeout: the initial window again (RFC 5681, 4.1)."""
        last, self.last_sent = self.last_sent, sending.now
        idle = sending.in_flight <= sending.packet and sending.rto is not None
        if idle and last is not None and sending.now - last > (sending.rto or 0.0):
            self.window = min(self.window, self.initial)
            self.acked = 0.0

    def on_ack(self, ack: Ack) -> None:
        if ack.bytes > 0:
            self.backed_off = False
        if self.repairing and ack.in_recovery:
            return
        if self.marked_until is not None:
            if ack.now < self.marked_until:
                return
            self.marked_until = None
        if self.window < self.ssthresh:
            counted = self._slow_start(ack)
        else:
            counted = 0.0 if ack.limited else float(ack.bytes)
        self.acked += counted
        if self.acked >= self.window:
            # At most one packet a round trip.
            self.acked = min(self.acked - self.window, self.window)
            self.window += self.mss

    def _slow_start(self, ack: Ack) -> float:
        """Grows the window up to the threshold; returns what is left for congestion avoidance."""
        if ack.limited:
            return 0.0
        # L of RFC 3465: two packets, one after a timeout.
        counted = min(ack.bytes, self.mss if self.after_timeout else 2 * self.mss)
        room = self.ssthresh - self.window
        if counted < room:
            self.window += counted
            return 0.0
        self.window = self.ssthresh
        self.after_timeout = False
        return counted - room

    def on_loss(self, congestion: Congestion) -> None:
        answering = self._is_answering(congestion)
        self._note_before()
        self.repairing = True
        if not answering:
            self._cut(congestion)

    def on_mark(self, congestion: Congestion) -> None:
        if not self._is_answering(congestion):
            self.marked_until = congestion.now + (congestion.srtt or 0.0)
            self._cut(congestion)

    def on_timeout(self, congestion: Congestion) -> None:
        """The threshold stays while the same packet times out again (RFC 5681, 3.1)."""
        self._note_before()
        if not self.backed_off and not self._is_answering(congestion):
            self.ssthresh = self._half(congestion)
            self.acked = 0.0
        self.window = float(self.mss)
        self.repairing = False
        self.marked_until = None
        self.backed_off = True
        self.after_timeout = True

    def on_recovered(self, now: float) -> None:
        self.repairing = False

    def on_spurious(self, now: float) -> None:
        """Nothing was lost: window and threshold are again what they were."""
        if self.before is None:
            return
        window, ssthresh = self.before
        self.window = max(self.window, window)
        self.ssthresh = max(self.ssthresh, ssthresh)
        self.before = None
        self.repairing = False
        self.marked_until = None
        self.backed_off = False
        self.after_timeout = False

    def slow_start_threshold(self) -> float:
        return self.ssthresh

    def _note_before(self) -> None:
        """With no repair under way: what an undone repair goes back to."""
        if not self.repairing and not self.backed_off:
            self.before = (self.window, self.ssthresh)

    def _is_answering(self, congestion: Congestion) -> bool:
        marked = self.marked_until is not None and congestion.now < self.marked_until
        return self.repairing or marked

    def _half(self, congestion: Congestion) -> float:
        """RFC 5681, equation 4."""
        return max(min(congestion.in_flight, self.window) / 2, 2 * self.mss)

    def _cut(self, congestion: Congestion) -> None:
        self.ssthresh = self._half(congestion)
        self.window = min(self.ssthresh, self.window)
        self.after_timeout = False
        self.acked = 0.0


class NewRenoByRound(ratewire.Law):
    """TCP NewReno, once a round trip: a call for many acknowledgements."""

    name = "newreno-round"
    goes_by_losses = True
    interval = "rtt"

    def start(self, flow: Flow) -> None:
        self.mss = flow.mss
        self.window = 10.0 * flow.mss
        self.ssthresh = math.inf

    def on_interval(self, seen: Interval) -> None:
        if seen.limited or seen.in_recovery:
            return
        if self.window < self.ssthresh:
            self.window = min(self.window + seen.acked, self.ssthresh)
        else:
            self.window += self.mss * min(seen.acked / self.window, 1.0)

    def on_loss(self, congestion: Congestion) -> None:
        self.ssthresh = max(min(congestion.in_flight, self.window) / 2, 2 * self.mss)
        self.window = min(self.window, self.ssthresh)

    def on_timeout(self, congestion: Congestion) -> None:
        self.on_loss(congestion)
        self.window = float(self.mss)
