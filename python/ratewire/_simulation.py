"""A simulated run in steps."""

from __future__ import annotations

from dataclasses import dataclass

from ratewire import _ratewire
from ratewire._law import LawLike, one_law
from ratewire._results import Results
from ratewire._scenario import ScenarioLike, Values, scenario_of


@dataclass(frozen=True)
class Figure:
    """A quantity in a law's equation."""

    name: str
    """Its name in the equation."""
    value: float
    """Its value in bytes, seconds, bytes per second or a plain number, as ``text`` shows."""
    text: str
    """The value with its unit: ``10.0 Mbit/s``."""


@dataclass(frozen=True)
class Why:
    """Why a flow sends at its rate: the equation that its law used last.

    ``str()`` is one line. :func:`ratewire.why` also follows a packet hop by hop.
    """

    equation: str
    """The equation, as the law's documentation writes it."""
    figures: tuple[Figure, ...]
    """The equation's quantities."""

    def __str__(self) -> str:
        return ", ".join([self.equation, *(f"{one.name} = {one.text}" for one in self.figures)])


@dataclass(frozen=True)
class FlowState:
    """A flow between two steps. Counters count from the start of the flow."""

    has_begun: bool
    """Whether the flow has begun."""
    has_ended: bool
    """Whether the flow is over."""
    delivered_bytes: int
    """Payload that has arrived, each byte once."""
    retransmitted_bytes: int
    """Payload sent again."""
    timeouts: int
    """Expirations of the retransmission timer."""
    in_flight_bytes: int
    """Payload outstanding."""
    window_bytes: int | None
    """Window of the law, in payload; ``None`` for no limit."""
    pacing_bps: float | None
    """Network-layer rate at which the law sends, bits per second; ``None`` without pacing."""
    srtt_s: float | None
    """Smoothed round-trip time, seconds; ``None`` while unknown."""
    rtt_s: float | None
    """Latest round-trip time, seconds; ``None`` while unknown."""
    why: Why | None
    """The law's reason for its rate; ``None`` before the flow begins and after its end."""


@dataclass(frozen=True)
class LinkState:
    """A link between two steps. Counters count from the start of the run."""

    queue_packets: int
    """Packets that wait."""
    queue_bytes: int
    """Bytes that wait."""
    queue_packets_max: int
    """Most packets that have waited."""
    queue_bytes_max: int
    """Most bytes that have waited."""
    sent_packets: int
    """Packets sent, with the one in transmission."""
    sent_bytes: int
    """Network-layer bytes sent, with those of the packet in transmission."""
    busy_s: float
    """Time spent sending, seconds."""
    dropped_full: int
    """Packets dropped by a full queue."""
    dropped_early: int
    """Packets dropped by the discipline."""
    dropped_down: int
    """Packets dropped because the link was down."""
    dropped_policed: int
    """Packets dropped by the policer of congestion headers."""
    dropped_exceeding: int
    """Packets that exceeded the token bucket of the link's policer."""
    dropped_overflow: int
    """Packets dropped because the buffer that pauses the link was full."""
    lost: int
    """Packets lost on the link."""
    marked: int
    """Packets marked (ECN)."""
    duplicated: int
    """Packets that arrived twice."""
    outages: int
    """How often the link went down."""
    down_s: float
    """Time for which the link was down, seconds."""
    pauses: int
    """How often the far end paused the link."""
    paused_s: float
    """Time for which the link was paused, seconds."""

    @property
    def drops(self) -> int:
        """Packets dropped for any reason; those lost on the link are not among them."""
        return (
            self.dropped_full
            + self.dropped_early
            + self.dropped_down
            + self.dropped_policed
            + self.dropped_exceeding
            + self.dropped_overflow
        )


class Simulation:
    """A simulated run that stops between steps, to be looked into and changed.

    ::

        simulation = ratewire.Simulation("scenarios/three-flows.toml", law="xcp")
        simulation.run_until("5 s")
        print(simulation.flow("s1->d1").window_bytes)
        simulation.set_link("bottleneck", rate="50 Mbit/s")
        results = simulation.finish()

    ``scenario`` and ``set`` are those of :func:`ratewire.run`. The run is under ``law``, a
    name, a class or a file, or the scenario's first law, from ``seed``, or the scenario's. Where
    nothing is changed, results are those of :func:`ratewire.run`, byte for byte, except for the
    number of the simulator's events.
    With arriving traffic, or some hundred links or flows, the order of events at one instant may
    be another.

    Python's lock is free during steps. Ctrl-C ends a step, and the simulation can go on.

    Raises as :func:`ratewire.run`.
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        law: LawLike | None = None,
        seed: int | None = None,
        set: Values | None = None,
    ) -> None:
        name, known = one_law(law)
        self._native = _ratewire.Simulation(scenario_of(scenario, set, known), name, seed)

    @property
    def now_s(self) -> float:
        """Time that the run has reached, seconds."""
        return self._native.now_s()

    @property
    def duration_s(self) -> float:
        """Duration of the run, seconds."""
        return self._native.duration_s()

    def run_until(self, time: str | float) -> None:
        """Runs up to a time since the start, before all that happens at that time.

        ``time`` is text, such as ``5 s``, or a number of seconds. A time after the end, such as
        ``math.inf``, means the end; a time in the past changes nothing.
        """
        self._native.run_until(time)

    def run_for(self, time: str | float) -> None:
        """Runs for a time: text, such as ``100 ms``, or a number of seconds."""
        self._native.run_for(time)

    def flow(self, name: str) -> FlowState:
        """The state of a listed flow, such as ``s1->d1``."""
        state = self._native.flow(name)
        why = state.pop("why")
        return FlowState(**state, why=None if why is None else _why(*why))

    def link(self, name: str) -> LinkState:
        """The state of a link, such as ``bottleneck``."""
        return LinkState(**self._native.link(name))

    def set_link(
        self,
        name: str,
        *,
        rate: str | float | None = None,
        delay: str | float | None = None,
        up: bool | None = None,
        loss: float | None = None,
        queue: int | None = None,
    ) -> None:
        """Changes a link from now on.

        ``rate`` is text, such as ``5 Mbit/s``, or a number of bits per second. ``delay`` is text,
        such as ``20 ms``, or a number of seconds, and holds for packets that start from now on.
        ``up=False`` takes the link down, which drops what waits and what arrives. ``loss`` is the
        probability with which the link loses each packet that starts from now on. ``queue`` is the
        room in its queue, in packets; packets that wait stay.
        """
        self._native.set_link(name, rate, delay, up, loss, queue)

    def finish(self) -> Results:
        """Runs to the end, and returns the results. The simulation is over.

        Changes between steps are no part of what results say of their origin.
        """
        return Results(self._native.finish())


def _why(equation: str, figures: list[tuple[str, float, str]]) -> Why:
    return Why(equation, tuple(Figure(*one) for one in figures))
