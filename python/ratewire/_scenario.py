"""Scenarios: from a file, from text, from a dictionary, or built."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, Union

from ratewire import _ratewire, _toml
from ratewire._asked import Laws, renamed, several
from ratewire._errors import Diagnostic, SettingError
from ratewire._law import LawLike

#: What can be run: a scenario, the path of its file, its text, or its document.
ScenarioLike: TypeAlias = Union["Scenario", str, "os.PathLike[str]", Mapping[str, Any]]
#: Values to set: a key's path, such as ``bottleneck.rate``, and a value with its unit.
Values: TypeAlias = Mapping[str, object]


class Scenario:
    """A network, what flows over it, and what is expected of it.

    A scenario is a value: each method returns a new one. It comes from a file
    (:meth:`load`), from TOML text (:meth:`parse`), from a dictionary with the keys of a file
    (:meth:`from_dict`), or is built::

        scenario = (
            Scenario.dumbbell(rate="10 Mbit/s", delay="20 ms", duration="10 s", law="xcp")
            .flow("s1", "d1")
            .expect("utilisation", link="bottleneck", min=0.9)
        )

    Keys and values are those of a file: quantities are text with a unit, such as
    ``"10 Mbit/s"``, ``"20 ms"`` or ``"1 MB"``. ``ratewire scenario --reference`` lists all keys.
    A scenario is checked when it is run, or by :meth:`check`.
    """

    __slots__ = ("_document", "_laws", "_native", "_set")

    def __init__(self, name: str, *, duration: str, law: str | list[str], **keys: object) -> None:
        """Starts a network of one's own, to which nodes, links and flows are added.

        ``duration`` is the simulated time, ``law`` the law of flows that name none. ``keys``
        are further keys at the top of a file, such as ``seed`` or ``transport``.
        """
        top = {"name": name, "duration": duration, "law": law, **keys}
        self._document: dict[str, Any] | None = {**top, "topology": {"kind": "custom"}}
        self._native: _ratewire.Scenario | None = None
        self._set: dict[str, object] = {}
        self._laws: tuple[LawLike, ...] = ()

    @classmethod
    def _of(
        cls,
        document: Mapping[str, Any] | None,
        native: _ratewire.Scenario | None,
        values: Values | None = None,
        laws: Iterable[LawLike] = (),
    ) -> Scenario:
        made = cls.__new__(cls)
        made._laws = tuple(laws)
        made._document = None if document is None else dict(document)
        made._native = native
        made._set = dict(values or {})
        return made

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        set: Values | None = None,
        *,
        law: Laws | None = None,
        laws: Laws | None = None,
    ) -> Scenario:
        """Reads the scenario in a file, with values set.

        It may name ``law``, one or several: see :meth:`knowing`. ``laws`` is its former name.
        Raises :class:`ScenarioError` with all errors.
        """
        own = several(renamed("law", law, "laws", laws))
        return cls._of(None, _ratewire.Scenario.load(os.fspath(path), _pairs(set), own), laws=own)

    @classmethod
    def parse(
        cls,
        text: str,
        name: str = "(text)",
        *,
        law: Laws | None = None,
        laws: Laws | None = None,
    ) -> Scenario:
        """Reads a scenario from TOML text, which messages call ``name``. It cannot name files.

        It may name ``law``, one or several: see :meth:`knowing`. ``laws`` is its former name.
        Raises :class:`ScenarioError` with all errors.
        """
        own = several(renamed("law", law, "laws", laws))
        return cls._of(None, _ratewire.Scenario.parse(name, text, own), laws=own)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Scenario:
        """A scenario from a dictionary with the keys of a file.

        Errors name lines of :attr:`text`.
        """
        return cls._of(document, None)

    @classmethod
    def dumbbell(
        cls,
        *,
        rate: str,
        delay: str,
        duration: str,
        law: str | list[str],
        pairs: int = 1,
        queue: str = "1 bdp",
        name: str = "Dumbbell",
        bottleneck: Mapping[str, object] | None = None,
        access: Mapping[str, object] | None = None,
        **keys: object,
    ) -> Scenario:
        """Pairs of hosts s1 and d1, s2 and d2, ... on both sides of one link, ``bottleneck``.

        ``rate``, ``delay`` (one way) and ``queue`` are those of the bottleneck, ``bottleneck``
        has more of its keys, such as ``discipline``. ``access`` has the keys of all other links:
        by default they have ten times the rate and no delay. ``keys`` are keys at the top of a
        file.
        """
        link = {"rate": rate, "delay": delay, "queue": queue, **(bottleneck or {})}
        topology: dict[str, object] = {"kind": "dumbbell", "pairs": pairs, "bottleneck": link}
        if access is not None:
            topology["access"] = dict(access)
        top = {"name": name, "duration": duration, "law": law, **keys}
        return cls._of({**top, "topology": topology}, None)

    def node(self, name: str, *, host: bool = True, **keys: object) -> Scenario:
        """Adds a host, or a router with ``host=False``."""
        own = {"name": name, **({} if host else {"host": False}), **keys}
        return self._with("node", own)

    def link(
        self,
        one: str,
        other: str,
        *,
        rate: str,
        delay: str,
        name: str | None = None,
        both_ways: bool = True,
        **keys: object,
    ) -> Scenario:
        """Adds a link from one node to the other, and by default one back.

        The link back is called as the link there, followed by ``.reverse``. Verdicts are about
        the link called ``bottleneck``, if there is one. ``keys`` are further keys of a link,
        such as ``queue``, ``discipline`` or ``loss``.
        """
        ends: dict[str, object] = (
            {"between": [one, other]} if both_ways else {"from": one, "to": other}
        )
        named = {} if name is None else {"name": name}
        return self._with("link", {**named, **ends, "rate": rate, "delay": delay, **keys})

    def flow(self, source: str, target: str, **keys: object) -> Scenario:
        """Adds a flow between two hosts; ``*`` in a name makes a flow of each pair.

        ``keys`` are further keys of a flow: ``name``, ``start``, ``stop``, ``size``, ``law``,
        ``stagger``. Without a size, the flow has data until its stop.
        """
        return self._with("flow", {"from": source, "to": target, **keys})

    def traffic(self, **keys: object) -> Scenario:
        """Adds flows that arrive at random; ``keys`` are those of ``[[traffic]]``."""
        return self._with("traffic", keys)

    def expect(self, metric: str, **keys: object) -> Scenario:
        """Adds an expectation about ``metric``, such as ``utilisation``.

        ``keys`` say of what (``link``, ``flow``), when (``during="2 s .. 8 s"``) and the bound
        (``min``, ``max``, ``equals``).
        """
        return self._with("expect", {"metric": metric, **keys})

    def set(self, values: Values | None = None, /, **keys: object) -> Scenario:
        """The scenario with values set: ``{"bottleneck.rate": "5 Mbit/s"}``.

        Keyword arguments are keys at the top of a file. Values are checked with the scenario.
        """
        added = {**(values or {}), **keys}
        return Scenario._of(self._document, self._native, {**self._set, **added}, self._laws)

    def _with(self, table: str, entry: dict[str, object]) -> Scenario:
        if self._document is None:
            why = f"a scenario that was read takes no further [[{table}]]"
            raise SettingError(f"{why}\n  help: set values of it, or build a scenario")
        entries = [*self._document.get(table, ()), entry]
        return Scenario._of({**self._document, table: entries}, None, self._set, self._laws)

    def check(self) -> list[Diagnostic]:
        """Checks the scenario, and returns warnings.

        Raises :class:`ScenarioError` with all errors.
        """
        return self._checked().warnings

    def _checked(self) -> _ratewire.Scenario:
        native = self._native
        if native is None:
            text = _toml.text(self._document or {})
            native = _ratewire.Scenario.parse("(built in code)", text, list(self._laws))
            self._native = native
        return native.set(_pairs(self._set)) if self._set else native

    def knowing(self, *laws: LawLike) -> Scenario:
        """The scenario, which may also name these laws: classes, and files of laws in C.

        The code of a file runs with this process's rights. A scenario names it by the same text::

            scenario.knowing("./mylaw.so").set({"law": "./mylaw.so"})
        """
        new = [law for law in laws if law not in self._laws]
        if not new:
            return self
        native = self._native and self._native.knowing(new)
        return Scenario._of(self._document, native, self._set, (*self._laws, *new))

    @property
    def text(self) -> str:
        """The scenario as the text of a file, without the values that were set."""
        return _toml.text(self._document) if self._document is not None else self._checked().text

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self._checked().name

    @property
    def duration_s(self) -> float:
        """Simulated time, seconds."""
        return self._checked().duration_s

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return self._checked().seed

    @property
    def laws(self) -> list[str]:
        """Laws that the scenario runs under."""
        return self._checked().laws

    @property
    def links(self) -> list[str]:
        """Names of the links."""
        return self._checked().links

    def __repr__(self) -> str:
        name = self._document.get("name") if self._document is not None else self._checked().name
        return f"<Scenario {name!r}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self._document, self._source(), self._set, self._laws)

    def _source(self) -> tuple[str, str, list[tuple[str, str]]] | None:
        native = self._native
        if self._document is not None or native is None:
            return None
        return native.file, native.text, native.values


def _unpickled(
    document: Mapping[str, Any] | None,
    source: tuple[str, str, list[tuple[str, str]]] | None,
    values: dict[str, object],
    laws: tuple[LawLike, ...],
) -> Scenario:
    if source is None:
        return Scenario._of(document, None, values, laws)
    file, text, pairs = source
    # A file that was read may name others, which are relative to its folder.
    if os.path.isfile(file) and Path(file).read_text(encoding="utf-8") == text:
        native = _ratewire.Scenario.load(file, pairs, list(laws))
    else:
        native = _ratewire.Scenario.parse(file, text, list(laws))
        native = native.set(pairs) if pairs else native
    return Scenario._of(None, native, values, laws)


def scenario_of(
    given: ScenarioLike, values: Values | None = None, laws: Iterable[LawLike] = ()
) -> _ratewire.Scenario:
    """The checked scenario that an argument means: see :func:`meant`."""
    return meant(given, values, laws)._checked()


def meant(
    given: ScenarioLike, values: Values | None = None, laws: Iterable[LawLike] = ()
) -> Scenario:
    """The scenario that an argument means, with values set and these laws known.

    Text with a line break is TOML, other text is the path of a file.
    """
    own = list(laws)
    if isinstance(given, Mapping):
        given = Scenario.from_dict(given)
    elif isinstance(given, str) and "\n" in given:
        given = Scenario.parse(given, law=own)
    elif not isinstance(given, Scenario):
        given = Scenario.load(given, values, law=own)
        values = None
    given = given.knowing(*own)
    return given.set(values) if values else given


def _pairs(values: Values | None) -> list[tuple[str, str]]:
    """Values as the command takes them: text as it is, all else as TOML."""
    given = (values or {}).items()
    return [(key, one if isinstance(one, str) else _toml.value(one)) for key, one in given]
