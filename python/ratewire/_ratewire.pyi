"""The native module. Its documentation is that of the classes in Python around it."""

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from ratewire._asked import Asked
from ratewire._errors import Diagnostic
from ratewire._law import Law, _What

__version__: str

_Progress = Callable[[float], None] | None
_Pairs = list[tuple[str, str]]
_Task = tuple[int, _Pairs, str, int]

class Table:
    """A table in Arrow's columns, which dataframes and databases take without a copy."""

    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

class Scenario:
    @staticmethod
    def load(path: str, set: _Pairs, laws: list[str | type[Law]]) -> Scenario: ...
    @staticmethod
    def parse(name: str, text: str, laws: list[str | type[Law]]) -> Scenario: ...
    def knowing(self, laws: list[str | type[Law]]) -> Scenario: ...
    def set(self, values: _Pairs) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str | None: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def laws(self) -> list[str]: ...
    @property
    def links(self) -> list[str]: ...
    @property
    def file(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def values(self) -> _Pairs: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...

class LawInfo:
    def __init__(
        self,
        law: type[Law],
        name: str,
        summary: str,
        explanation: str,
        options: Sequence[tuple[str, str, float, float, list[str], str, str]],
        what: _What,
        sha256: str,
    ) -> None: ...
    @property
    def name(self) -> str: ...

class Flow:
    """A flow, as its law sees it at the start."""

    mss: int
    """Payload of a full packet, bytes."""
    packet: int
    """A full packet with its headers, bytes."""
    line_rate: float
    """Rate of the sender's own link, bytes per second."""
    back_pressured: bool
    """Whether the sender's own link is paused when its queue is full."""

class Link:
    """A link, as its port sees it at the start."""

    rate: float
    """Capacity, bytes per second."""
    delay: float
    """Propagation delay, seconds."""
    id: int
    """Number of the port, unique in the network and not 0."""

class Sending:
    """A packet is about to be sent."""

    now: float
    """Seconds since the start of the run."""
    packet: int
    """The packet with its headers, bytes."""
    in_flight: int
    """Payload outstanding, this packet included, bytes."""
    receive_window: int | None
    """The receiver's window, bytes of payload; ``None`` without a limit."""
    srtt: float | None
    """Smoothed round-trip time, seconds; ``None`` while unknown."""
    rto: float | None
    """Retransmission timeout, seconds; ``None`` while unknown."""
    limited: bool
    """Whether the application or the receiver has kept the sender from sending."""

class Ack:
    """An acknowledgement has arrived."""

    now: float
    """Seconds since the start of the run."""
    bytes: int
    """Payload newly acknowledged, cumulatively or selectively, bytes."""
    in_flight: int
    """Payload outstanding after it, bytes."""
    was_in_flight: int
    """Payload outstanding before it, bytes."""
    rtt: float | None
    """Round-trip time of the newest packet, seconds; ``None`` if that was sent twice (Karn)."""
    srtt: float
    """Smoothed round-trip time with this sample, seconds."""
    cumulative: int
    """Offset of the stream up to which all is acknowledged."""
    next: int
    """Offset of the next byte never sent."""
    receive_window: int | None
    """The receiver's window, bytes of payload; ``None`` without a limit."""
    lost: int
    """Payload found lost since the acknowledgement before, bytes."""
    limited: bool
    """Whether the application or the receiver keeps the sender from using its window."""
    in_recovery: bool
    """Whether the sender is repairing a loss."""
    marked: bool
    """Whether a packet that it covers was marked (ECN)."""
    header: builtins.bytes | None
    """The congestion header, if it has one of this law."""

class Congestion:
    """Congestion was noticed."""

    now: float
    """Seconds since the start of the run."""
    in_flight: int
    """Payload sent and not cumulatively acknowledged (FlightSize of RFC 5681), bytes."""
    srtt: float | None
    """Smoothed round-trip time, seconds; ``None`` while unknown."""

class Interval:
    """What acknowledgements brought since the last interval."""

    now: float
    """Seconds since the start of the run."""
    seconds: float
    """Length of the interval, seconds."""
    acks: int
    """Acknowledgements."""
    acked: int
    """Payload newly acknowledged, bytes."""
    lost: int
    """Payload found lost, bytes."""
    marked: int
    """Acknowledgements of packets that were marked (ECN)."""
    in_flight: int
    """Payload outstanding after the last acknowledgement, bytes."""
    rtt_mean: float | None
    """Mean round-trip time, seconds; ``None`` without a sample."""
    rtt_min: float | None
    """Shortest round-trip time, seconds; ``None`` without a sample."""
    srtt: float | None
    """Smoothed round-trip time, seconds; ``None`` while unknown."""
    limited: bool
    """Whether the application or the receiver kept the sender from using its window."""
    in_recovery: bool
    """Whether the sender was repairing a loss at the last acknowledgement."""

def explain(law: type[Law] | None, name: str, width: int) -> str: ...
def law_cost(law: type[Law] | None, name: str, rounds: int) -> tuple[float, float] | None: ...
def check_law(
    law: type[Law] | None, name: str, seed: int, events: int, only: str | None
) -> list[tuple[str, bool | None, str]]: ...

class Figures:
    def parts(self, name: str) -> list[str]: ...
    def json(self, name: str, choice: dict[str, Any]) -> str: ...
    def write(
        self, name: str, path: str, style: dict[str, Any], choice: dict[str, Any]
    ) -> None: ...
    def list(self) -> list[tuple[str, str, str]]: ...

class Results:
    @staticmethod
    def load(folder: str) -> Results: ...
    @staticmethod
    def of_files(files: list[tuple[str, bytes]]) -> Results: ...
    def files(self) -> dict[str, bytes]: ...
    def save(self, folder: str) -> None: ...
    def report(self, path: str) -> None: ...
    def json(self) -> str: ...
    def page(self) -> str: ...
    def table(self) -> str | None: ...
    def answers(self) -> list[tuple[str, int, str]]: ...
    def figures(self) -> Figures: ...
    def flows(self) -> Table: ...
    def links(self) -> Table: ...
    def completions(self) -> Table: ...
    def groups(self) -> Table: ...

class Comparison:
    def json(self) -> str: ...
    def table(self) -> str: ...
    def page(self) -> str: ...
    def report(self, path: str) -> None: ...
    def save(self, folder: str) -> None: ...
    def figures(self) -> Figures: ...

class Sweep:
    def json(self) -> str: ...
    def table(self) -> str: ...
    def page(self) -> str: ...
    def report(self, path: str) -> None: ...
    def runs(self) -> Table: ...
    def figures(self) -> Figures: ...

class Reproduction:
    def json(self) -> str: ...
    def page(self) -> str: ...
    def report(self, path: str) -> None: ...

class Simulation:
    def __new__(cls, scenario: Scenario, law: str | None, seed: int | None) -> Simulation: ...
    def run_until(self, at: str | float) -> None: ...
    def run_for(self, time: str | float) -> None: ...
    def now_s(self) -> float: ...
    def duration_s(self) -> float: ...
    def flow(self, name: str) -> dict[str, Any]: ...
    def link(self, name: str) -> dict[str, Any]: ...
    def set_link(
        self,
        link: str,
        rate: str | float | None,
        delay: str | float | None,
        up: bool | None,
        loss: float | None,
        queue: int | None,
    ) -> None: ...
    def finish(self) -> Results: ...

class Environments:
    columns: ClassVar[list[str]]
    def __new__(
        cls,
        scenarios: list[Scenario],
        count: int,
        flow: str,
        law: str | None,
        step_s: float | None,
        threads: int | None,
    ) -> Environments: ...
    def act(self, orders: bytes, seeds: bytes, windows: bytes, paces: bytes) -> bytes: ...
    def episodes(self) -> list[tuple[int, int, bytes]]: ...
    def replay(self, episodes: list[tuple[int, int, bytes]]) -> bytes: ...

def seeds(text: str) -> list[int]: ...
def seconds(name: str, time: str | float) -> float: ...
def run(
    scenario: Scenario,
    asked: Asked,
    worlds: list[str],
    why: str | None,
    folder: str | None,
    progress: _Progress,
) -> Results: ...
def compare(scenario: Scenario, asked: Asked, progress: _Progress) -> Comparison: ...
def sweep(
    scenario: Scenario,
    over: _Pairs,
    asked: Asked,
    folder: str | None,
    store: tuple[object, str] | None,
    progress: _Progress,
    elsewhere: Callable[[list[_Task]], Iterable[tuple[int, str]]] | None,
) -> Sweep: ...
def run_tasks(
    scenario: Scenario, asked: Asked, tasks: list[_Task]
) -> tuple[list[tuple[int, str]], Exception | None]: ...
def reproduce(papers: str, names: list[str], progress: _Progress) -> Reproduction: ...
def list_papers(papers: str) -> list[tuple[str, str, list[str]]]: ...
