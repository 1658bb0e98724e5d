"""Laws of one's own, as classes."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from ratewire import _ratewire, _toml
from ratewire._errors import SettingError
from ratewire._ratewire import Ack, Congestion, Flow, Interval, Link, Sending

Kind = Literal["switch", "number", "count", "time", "rate", "size", "word"]


@dataclass(frozen=True)
class Option:
    """An option of a law; :func:`option` makes one."""

    default: bool | int | float | str
    kind: Kind
    min: float
    max: float
    words: tuple[str, ...] = field(default=())
    doc: str = ""


def option(
    default: bool | int | float | str,
    *,
    min: float = -math.inf,
    max: float = math.inf,
    kind: Literal["time", "rate", "size"] | None = None,
    words: Sequence[str] = (),
    doc: str = "",
) -> Any:
    """An option of a law, as an attribute of its class.

    The type of ``default`` says what the option holds: a switch, a whole number or a number from
    ``min`` to ``max``, or one of ``words``. With ``kind``, text with a unit: a ``time``
    (``"50 ms"``, in the law a number of seconds), a ``rate`` (``"8 Mbit/s"``, bytes per second) or
    a ``size`` (``"64 KB"`` or ``"10 packets"``, bytes of payload). ``doc`` says what it does.

    In an object of the law the attribute is the value.
    """
    if kind is not None:
        found: Kind = kind
    elif isinstance(default, bool):
        found = "switch"
    elif isinstance(default, int):
        found = "count"
        min = 0 if min == -math.inf else min
        max = 2**53 if max == math.inf else max
    elif isinstance(default, float):
        found = "number"
    else:
        found = "word"
        words = words or (default,)
    return Option(default, found, min, max, tuple(words), doc)


def _check_callbacks(cls: type, base: type[Law] | type[Port]) -> None:
    """Refuses a method that would never be called, such as ``on_akc``."""
    what = base.__name__
    known = [name for name in vars(base) if name.startswith("on_")]
    own = [name for name in dir(cls) if name.startswith("on_") and name not in known]
    for name in own:
        if not callable(getattr(cls, name)):
            continue
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        meant = f"did you mean `{near[0]}`? " if near else ""
        raise TypeError(
            f"{cls.__qualname__}.{name} is never called: a {what} has no callback of this name\n"
            f"  help: {meant}the callbacks are {', '.join(known)}; call a method of your own by a "
            "name without on_"
        )


def _check_interval(cls: type, base: type[Law] | type[Port]) -> None:
    """Refuses an interval after which nothing is called."""
    is_timed = getattr(cls, "on_interval", base.on_interval) is not base.on_interval
    if not is_timed and getattr(cls, "interval", base.interval) != base.interval:
        raise TypeError(
            f"{cls.__qualname__} has an `interval`, but no method `on_interval` to call\n"
            "  help: write `on_interval`, or leave `interval` out"
        )


class Port:
    """The router's part of a law, an object for each link; to be derived from.

    ``header`` is a ``bytearray`` of the law's length, to be changed in place, or ``None`` for
    packets of other laws, which fill the link as well. ``queue`` is what waits: bytes and
    packets, without the packet being sent. Times are seconds, rates bytes per second.

    ``interval`` is the time between two calls of :meth:`on_interval`: seconds, or text with a unit
    such as ``"5 ms"``; ``None`` for none. :meth:`start` and :meth:`on_interval` may change it.
    """

    #: Time between two calls of :meth:`on_interval`, which may change it: seconds, or text with a
    #: unit; ``None`` for none.
    interval: float | str | None = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        _check_callbacks(cls, Port)

    def start(self, link: Link) -> None:
        """The port is made, for a link."""

    def on_arrival(
        self, now: float, size: int, header: bytearray | None, queue: tuple[int, int]
    ) -> None:
        """A packet has arrived for the queue; it may yet be dropped."""

    def on_departure(
        self, now: float, size: int, header: bytearray | None, queue: tuple[int, int]
    ) -> None:
        """A packet leaves the queue."""

    def on_interval(self, now: float, queue: tuple[int, int]) -> None:
        """An :attr:`interval` is over."""

    def on_rate_change(self, rate: float) -> None:
        """The link has a new rate, which may be 0."""

    def figures(self) -> Mapping[str, float]:
        """Numbers that explain what the port does, by name: for ``why`` and for :class:`Books`."""
        return {}


class Books:
    """What a law conserves, such as feedback that a port has to give; to be derived from.

    Only :func:`check_law` keeps books: an object for each port, and one for each receiver. A
    method raises, with ``assert`` say, when the books do not balance.
    """

    def departed(
        self,
        size: int,
        was: bytes,
        is_: bytes,
        before: Mapping[str, float],
        after: Mapping[str, float],
    ) -> None:
        """A data packet of ``size`` bytes has left the port: its header and the port's figures.

        ``was`` and ``before`` are from before :meth:`Port.on_departure`, ``is_`` and ``after``
        from after it.
        """

    def interval(self, before: Mapping[str, float], after: Mapping[str, float]) -> None:
        """An interval of the port is over: its figures before and after."""

    def received(self, header: bytes) -> None:
        """The receiver has got a data packet."""

    def answered(self, header: bytes) -> None:
        """The receiver has sent an acknowledgement."""


class Law:
    """A law of one's own; to be derived from. There is an object of the class for each flow.

    ::

        class Aimd(ratewire.Law):
            \"\"\"Additive increase, multiplicative decrease.\"\"\"

            name = "aimd"
            decrease = ratewire.option(0.5, min=0.1, max=0.9, doc="share kept after a loss")

            def start(self, flow):
                self.mss = flow.mss
                self.window = 10 * flow.mss

            def on_ack(self, ack):
                if not ack.limited and not ack.in_recovery:
                    self.window += self.mss * ack.bytes / self.window

            def on_loss(self, congestion):
                self.window = max(self.window * self.decrease, 2 * self.mss)

            def on_timeout(self, congestion):
                self.window = self.mss

        results = ratewire.run(scenario, law=[Aimd, "cubic"])

    The documentation of the class is the law's explanation, its first line the summary.

    After each call :attr:`window` and :attr:`pace` are read. Times are seconds, rates bytes per
    second, sizes bytes: ``window`` of payload, ``pace`` of packets with their headers.

    With :meth:`on_interval` a law works once an :attr:`interval`, which costs far less than a call
    for each acknowledgement. Both may be there.

    An exception ends the run: the error of :func:`ratewire.run` has it as its cause. So does a
    number that no law may give, such as a window of more than 1 GiB without a pace.

    A class may also set these attributes; what is not set has the value shown below.

    ``header_length``
        Bytes of the congestion header of each packet, 0 to 32; 0 for none. :meth:`on_send` writes
        the header.
    ``goes_by_pace``
        Whether the pace alone controls the sender, and the window only bounds what is lost.
    ``goes_by_losses``
        Whether senders are regular until a packet is lost, so that only losses tell flows apart.
    ``equal_shares``
        A promise that :func:`check_law` checks: equal flows end within 5 % of equal shares in a
        minute.
    ``any_speed``
        A promise that :func:`check_law` checks: the same course at four times all rates.
    ``Port``
        The router's part, a class derived from :class:`ratewire.Port`; ``None`` for none.
    ``Books``
        A promise that :func:`check_law` checks: what the law conserves, a class derived from
        :class:`ratewire.Books`; ``None`` for no promise.
    ``interval``
        Time between two calls of :meth:`on_interval`: seconds, text with a unit such as
        ``"5 ms"``, or ``"rtt"`` for the smoothed round-trip time.
    ``pace``
        Rate at which to send packets, bytes per second; ``None`` to send as the window allows.
    """

    #: The law's name in scenarios and results: letters, digits, ``-``, ``_``, ``.``, ``@``.
    name: ClassVar[str]
    #: Bytes of the congestion header of each packet, up to 32; :meth:`on_send` writes it.
    header_length: ClassVar[int] = 0
    #: Whether the pace alone controls the sender, and the window only bounds what is lost.
    goes_by_pace: ClassVar[bool] = False
    #: Whether senders are regular until a packet is lost.
    goes_by_losses: ClassVar[bool] = False
    #: Whether senders wait while their own host's queue has enough of the flow, as TCP's do.
    small_queues: ClassVar[bool] = False
    #: A promise for :func:`check_law`: equal flows end within 5 % of equal shares in a minute.
    equal_shares: ClassVar[bool] = False
    #: A promise for :func:`check_law`: the same course at four times all rates.
    any_speed: ClassVar[bool] = False
    #: The router's part, if there is one: a class derived from :class:`ratewire.Port`.
    Port: ClassVar[type[Port] | None] = None
    #: A promise for :func:`check_law`: what the law conserves, a class derived from
    #: :class:`ratewire.Books`.
    Books: ClassVar[type[Books] | None] = None

    #: Time between two calls of :meth:`on_interval`: seconds, text with a unit, or ``"rtt"``.
    interval: float | str = "rtt"
    #: Payload that may be outstanding; at least a packet is sent.
    window: float
    #: Rate at which to send; ``None`` to send as the window allows.
    pace: float | None = None

    _info: ClassVar[_ratewire.LawInfo]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        _check_callbacks(cls, Law)
        if "name" not in cls.__dict__:
            return
        _check_interval(cls, Law)
        if cls.Port is not None:
            _check_interval(cls.Port, Port)
        options = _options(cls)
        explanation = inspect.cleandoc(cls.__doc__ or f"The law {cls.name}.")
        rows = [
            (name, one.kind, float(one.min), float(one.max), list(one.words), _text(one), one.doc)
            for name, one in options.items()
        ]
        summary = explanation.splitlines()[0].rstrip(".")
        digest = hashlib.sha256(repr(_content(cls, [])).encode()).hexdigest()
        cls._info = _ratewire.LawInfo(
            cls, cls.name, summary, explanation + "\n", rows, _What(cls), digest
        )

    def start(self, flow: Flow) -> None:
        """The flow begins. Must set :attr:`window`."""
        raise NotImplementedError(f"{type(self).__name__} has no method `start`")

    def on_send(self, sending: Sending) -> bytes | None:
        """A packet leaves. Returns its congestion header, ``None`` for none."""
        return None

    def on_ack(self, ack: Ack) -> None:
        """An acknowledgement has arrived."""

    def on_loss(self, congestion: Congestion) -> None:
        """A loss was found; at most once a window."""

    def on_mark(self, congestion: Congestion) -> None:
        """A congestion mark (ECN) came back; at most once a window. By default as a loss."""
        self.on_loss(congestion)

    def on_timeout(self, congestion: Congestion) -> None:
        """The retransmission timer has expired. By default as a loss."""
        self.on_loss(congestion)

    def on_recovered(self, now: float) -> None:
        """All that was outstanding when a loss was noticed has arrived."""

    def on_spurious(self, now: float) -> None:
        """The last loss or timeout was none: its packets were late.

        A law that has slowed down goes back to where it was. :meth:`on_recovered` follows.
        """

    def slow_start_threshold(self) -> float | None:
        """Payload that may be outstanding once a loss is repaired (ssthresh of RFC 5681).

        What is outstanding falls to it bit by bit (PRR, RFC 9937). Asked after :meth:`on_loss`.
        ``None``: the window holds during a repair, too.
        """
        return None

    def on_interval(self, seen: Interval) -> None:
        """An :attr:`interval` is over."""

    def figures(self) -> Mapping[str, float]:
        """Numbers that explain the window and the pace, by name, for ``why``."""
        return {}

    @classmethod
    def returned(cls, header: bytes) -> bytes:
        """The header that a receiver returns for the last that came. By default that one.

        Ports see headers on their way back, too: a law whose ports must tell the two apart notes
        it here.
        """
        return header


class _What:
    """What a class of a law is and has, for the native module."""

    def __init__(self, law: type[Law]) -> None:
        has = {
            name: getattr(law, name) is not getattr(Law, name)
            for name in (
                "on_send",
                "on_ack",
                "on_recovered",
                "on_spurious",
                "slow_start_threshold",
                "on_interval",
            )
        }
        self.on_send = has["on_send"]
        self.on_ack = has["on_ack"]
        self.on_recovered = has["on_recovered"]
        self.on_spurious = has["on_spurious"]
        self.slow_start_threshold = has["slow_start_threshold"]
        self.on_interval = has["on_interval"]
        self.returned = law.returned.__func__ is not Law.returned.__func__  # type: ignore[attr-defined]
        self.header_length = law.header_length
        self.has_port = law.Port is not None
        port = law.Port
        self.port_on_interval = port is not None and (
            getattr(port, "on_interval", Port.on_interval) is not Port.on_interval
        )
        self.has_books = law.Books is not None
        self.goes_by_pace = law.goes_by_pace
        self.goes_by_losses = law.goes_by_losses
        self.small_queues = law.small_queues
        self.equal_shares = law.equal_shares
        self.any_speed = law.any_speed


#: What differs between equal classes, or has no part in a run.
_NOISE = {
    "Books",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__static_attributes__",
    "__weakref__",
    "_info",
}


def _content(value: object, within: list[object]) -> object:
    """What a class does, in values whose text is equal for equal classes in any process.

    Functions and constants of the module that a method uses have no part in it.
    """
    if any(value is known for known in within):
        return "itself"
    inner = [*within, value]
    if isinstance(value, (staticmethod, classmethod)):
        return _content(value.__func__, inner)
    if isinstance(value, property):
        return _content((value.fget, value.fset), inner)
    if isinstance(value, types.FunctionType):
        return _content((value.__code__, value.__defaults__, value.__kwdefaults__), inner)
    if isinstance(value, types.CodeType):
        code = (value.co_code, value.co_names, value.co_varnames, value.co_consts)
        return _content(code, inner)
    if isinstance(value, type):
        own = [base for base in value.__mro__ if base not in (object, Law, Port)]
        return [_content(dict(vars(base)), inner) for base in own]
    if isinstance(value, (tuple, list)):
        return [_content(one, inner) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted(repr(_content(one, inner)) for one in value)
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key not in _NOISE}
        return [(repr(key), _content(one, inner)) for key, one in kept.items()]
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, Option)):
        return repr(value)
    return type(value).__name__


def _options(law: type) -> dict[str, Option]:
    """Options of a class and of those that it is derived from, in the order of their definition."""
    found: dict[str, Option] = {}
    for one in reversed(law.__mro__):
        found.update({key: value for key, value in vars(one).items() if isinstance(value, Option)})
    return found


def _text(one: Option) -> str:
    """The default as a user would write it."""
    return one.default if isinstance(one.default, str) else _toml.value(one.default)


@dataclass(frozen=True)
class LawCheck:
    """A check of a law, and how it went."""

    name: str
    """The check: ``wild``, ``headers``, ``options``, ``run``, ``deterministic``, ..."""
    passed: bool | None
    """Whether it passes; ``None`` for a promise that the law does not make."""
    told: str
    """What was done, or what is wrong."""


def check_law(
    law: type[Law] | str, *, seed: int = 1, events: int = 225_000, only: str | None = None
) -> list[LawCheck]:
    """Checks that a law keeps the rules of every law, and its own promises.

    ``law`` is a class, the name of a law, or the file of one: ``"./mylaw.so"``. A law in C may
    crash the process, and ``ratewire check-law`` outlives that. ``seed`` chooses the events that
    the law gets, and ``events`` is about their number: a law in Python takes some microseconds for
    each. ``only`` is the name of one check, to do it alone.

    Raises :class:`ratewire.SettingError` if there is no such law or check.
    """
    (name,), classes = parted([law])
    own = classes[0] if classes else None
    return [LawCheck(*one) for one in _ratewire.check_law(own, name, seed, events, only)]


def explain(law: type[Law] | str, *, width: int = 88) -> str:
    """Explains a law, and its options with their defaults and ranges.

    ``law`` is a class, the name of a law or of a queue discipline, or the file of a law. Of a class
    it is the docstring. The texts of options are wrapped at ``width`` characters.

    Raises :class:`ratewire.SettingError` if there is no such law or discipline.
    """
    if not 20 <= width <= 1000:
        raise SettingError(f"width is {width}, but lines have 20 to 1000 characters")
    (name,), classes = parted([law])
    return _ratewire.explain(classes[0] if classes else None, name, width)


@dataclass(frozen=True)
class LawCost:
    """The work of a law's port for a packet, timers included."""

    least_ns: float
    """The least of all batches, in nanoseconds: other load only adds to it."""
    median_ns: float
    """The median of the batches, in nanoseconds."""


def law_cost(law: type[Law] | str, *, rounds: int = 20) -> LawCost | None:
    """Measures on this machine what a law's port does for a packet.

    A port of 1 Gbit/s sees 20,000 packets in each of ``rounds`` batches; the time of the loop alone
    is subtracted. ``ratewire laws --cost`` shows the same of all laws in the tree. ``None`` if the
    law has no port, so that routers do no work for it.

    Raises :class:`ratewire.SettingError` if there is no such law, or its port fails.
    """
    if not 1 <= rounds <= 10_000:
        raise SettingError(f"rounds is {rounds}, but 1 to 10,000 batches are measured")
    (name,), classes = parted([law])
    found = _ratewire.law_cost(classes[0] if classes else None, name, rounds)
    return None if found is None else LawCost(*found)


#: A law by its name, or a class of one's own.
LawLike = str | type[Law]


def parted(laws: Sequence[LawLike]) -> tuple[list[str], list[type[Law]]]:
    """Names of laws, and the classes among them."""
    own = [law for law in laws if not isinstance(law, str)]
    for law in own:
        if not (isinstance(law, type) and issubclass(law, Law)):
            raise TypeError(f"{law!r} is no law: allowed are names and classes derived from Law")
        if "_info" not in vars(law):
            raise TypeError(f"the law {law.__name__} has no `name` of its own")
    return [law if isinstance(law, str) else law.name for law in laws], own


def loadable(laws: Sequence[LawLike]) -> list[LawLike]:
    """Laws that a scenario must know before it can name them: classes, and files of laws in C."""
    own = (law for law in laws if not isinstance(law, str) or law.endswith((".so", ".dylib")))
    return list(own)


def one_law(law: LawLike | None) -> tuple[str | None, list[LawLike]]:
    """The name of one law, and what a scenario must know for it; ``None`` stays ``None``."""
    if law is None:
        return None, []
    if not isinstance(law, (str, type)):
        raise TypeError(f"law is {law!r}: allowed is one law, a name or a class derived from Law")
    (name,), _ = parted([law])
    return name, loadable([law])
