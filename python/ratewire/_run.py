"""Ways to run scenarios."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ratewire import _ratewire, _toml
from ratewire._errors import SettingError
from ratewire._executor import check_importable, on
from ratewire._law import LawLike, loadable, parted
from ratewire._progress import progress as shown
from ratewire._results import Comparison, Path, Reproduction, Results, SweepResults
from ratewire._scenario import Scenario, ScenarioLike, Values, scenario_of
from ratewire._store import Store, is_url

#: Laws by their names, or classes of one's own: one or several.
Laws: TypeAlias = LawLike | Iterable[LawLike]


def run(
    scenario: ScenarioLike,
    *,
    laws: Laws | None = None,
    seeds: int | Iterable[int] | None = None,
    set: Values | None = None,
    world: str | Iterable[str] = "simulate",
    folder: Path | None = None,
    progress: bool | None = None,
) -> Results:
    """Runs a scenario on all cores, and returns the results.

    ``scenario`` is a :class:`Scenario`, the path of a file, TOML text (text with a line break),
    or a dictionary. ``laws`` and ``seeds`` replace the scenario's own: ``["xcp", "cubic"]``,
    ``range(1, 6)``; a law may be a class of one's own (:class:`ratewire.Law`). A number as
    ``seeds`` is one seed, not their number. ``set`` changes
    values: ``{"bottleneck.rate": "10 Mbit/s"}``. ``world`` is
    ``simulate`` or ``emulate``, which needs root. With ``folder``, samples are written there and
    not kept in memory. ``progress`` is shown by tqdm, where it is installed, on a terminal and in
    a notebook; ``True`` and ``False`` decide.

    Python's lock is free during runs. Ctrl-C ends them, raises ``KeyboardInterrupt``, and leaves
    a folder as it was.

    Raises :class:`ScenarioError` for errors in the scenario, :class:`SettingError` for other
    arguments, and :class:`IncompleteError`, which has the other results, if some runs fail.
    Warns with :class:`ScenarioWarning`.
    """
    names, own_laws = _laws(laws)
    native = scenario_of(scenario, set, own_laws)
    worlds, own = _texts(world), (names, _seeds(seeds))
    runs = _count(native, own, len(worlds))
    with shown(native.duration_s * runs, progress) as reach:
        path = None if folder is None else os.fspath(folder)
        return Results(_ratewire.run(native, *own, worlds, None, path, reach))


def why(
    scenario: ScenarioLike,
    flow: str,
    at: str | float,
    *,
    law: LawLike | None = None,
    seed: int | None = None,
    set: Values | None = None,
) -> str:
    """Runs a scenario, and explains hop by hop what limited a flow's rate at a time.

    ``flow`` is the flow's name, such as ``s1->d1``, and ``at`` a time, such as ``12 s``, or a
    number of seconds. The run is under ``law``, or the scenario's first law.

    Raises :class:`SettingError` if there is no such flow or time, and as :func:`run`.
    """
    names, own_laws = _laws(law)
    native = scenario_of(scenario, set, own_laws)
    laws = names or native.laws[:1]
    seeds = None if seed is None else [seed]
    time = at.replace(" ", "") if isinstance(at, str) else f"{at}s"
    question = f"{flow}@{time}"
    results = _ratewire.run(native, laws, seeds, ["simulate"], question, None, None)
    return results.answers()[0][2]


def compare(
    scenario: ScenarioLike,
    laws: Laws | None = None,
    *,
    seeds: int = 5,
    set: Values | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compares laws over several seeds, with 95 % intervals.

    ``laws`` are those of the scenario by default; ``"all"`` stands for all that react to the
    network. ``seeds`` is the number of seeds: the scenario's seed and those that follow.

    Raises as :func:`run`; :class:`RunError` if a run fails.
    """
    try:
        seeds = operator.index(seeds)
    except TypeError:
        raise SettingError(
            f"seeds is {seeds!r}: a comparison takes their number, such as seeds=5\n"
            "  help: it counts on from the scenario's seed, which set={'seed': 7} changes"
        ) from None
    if seeds < 1:
        raise SettingError(f"seeds is {seeds}, but a comparison has one seed at least")
    names, own_laws = _laws(laws)
    native = scenario_of(scenario, set, own_laws)
    with shown(None, progress) as reach:
        return Comparison(_ratewire.compare(native, names or [], seeds, reach))


def sweep(
    scenario: ScenarioLike,
    over: Mapping[str, str | Sequence[object]],
    *,
    laws: Laws | None = None,
    seeds: int | Iterable[int] | None = None,
    set: Values | None = None,
    folder: Path | None = None,
    executor: Any = None,
    progress: bool | None = None,
) -> SweepResults:
    """Runs each law and seed at every combination of values.

    ``over`` has the values of each key: a list, or text in the command's forms, such as
    ``{"bottleneck.rate": "10M..10G:log7", "bottleneck.queue": ["0.5 bdp", "2 bdp"]}``. In a
    ``folder`` finished runs are kept, and a sweep that was stopped goes on. A folder with ``://``
    is one of fsspec: ``s3://bucket/sweep``.

    Runs take all cores of this machine. With an ``executor`` they go elsewhere: to any
    :class:`concurrent.futures.Executor`, a client of Dask, or Ray (``executor=ray``, the module).
    Workers need this package and the files that the scenario names; results are the same bytes. A
    law that is a class must be one that workers can import.

    ``laws`` and ``seeds`` are those of :func:`run`: a number as ``seeds`` is one seed.

    Raises as :func:`run`; :class:`RunError` if a run fails; :class:`FileError` if the folder cannot
    be written, and :class:`IncompleteError`, which has the results, if it cannot at the end.
    """
    names, own_laws = _laws(laws)
    native = scenario_of(scenario, set, own_laws)
    axes = [(key, _values(key, values)) for key, values in over.items()]
    path, store = None if folder is None else os.fspath(folder), None
    if path is not None and is_url(path):
        store, path = (Store(path), path), None
    with shown(None, progress) as reach:
        own = (names, _seeds(seeds))
        elsewhere = None
        if executor is not None:
            portable = _portable(scenario, set, own_laws)
            check_importable(executor, portable)
            elsewhere = on(executor, portable, names)
        return SweepResults(_ratewire.sweep(native, axes, *own, path, store, reach, elsewhere))


def reproduce(
    names: str | Iterable[str],
    *,
    papers: Path = "papers",
    progress: bool | None = None,
) -> Reproduction:
    """Simulates figures of papers again, and holds them against the papers' claims.

    ``names`` are papers or single figures, ``xcp-sigcomm-2002/figure-5``, in the folder
    ``papers`` of a clone. :func:`papers` lists them.

    Raises :class:`SettingError` if there is no such paper or figure, and as :func:`run`.
    """
    with shown(None, progress) as reach:
        return Reproduction(_ratewire.reproduce(os.fspath(papers), _texts(names), reach))


def papers(folder: Path = "papers") -> dict[str, list[str]]:
    """Papers in a folder, each with the names of its figures."""
    return {name: figures for name, _, figures in _ratewire.list_papers(os.fspath(folder))}


def _portable(scenario: ScenarioLike, values: Values | None, laws: Iterable[LawLike]) -> Scenario:
    """The scenario as an object that other processes can take."""
    known = scenario._laws if isinstance(scenario, Scenario) else ()
    native = scenario_of(scenario, values, laws)
    return Scenario._of(None, native, None, [*known, *laws])


def _texts(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _laws(laws: Laws | None) -> tuple[list[str] | None, list[LawLike]]:
    """Names of laws, and the classes and files among them; ``None`` for the scenario's own."""
    if laws is None:
        return None, []
    named = [laws] if isinstance(laws, (str, type)) else list(laws)
    if not named:
        raise SettingError("laws is empty: name one at least, or leave it out")
    return parted(named)[0], loadable(named)


def _seeds(seeds: int | Iterable[int] | None) -> list[int] | None:
    """Seeds as a list; ``None`` stands for the scenario's own."""
    if seeds is None:
        return None
    all_seeds = list(seeds) if isinstance(seeds, Iterable) else [seeds]
    if not all_seeds:
        raise SettingError("seeds is empty: give one at least, or leave it out")
    return [_seed(seed) for seed in all_seeds]


def _seed(seed: object) -> int:
    try:
        number = operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        raise SettingError(f"a seed cannot be {seed!r}: allowed are whole numbers from 0 to 2^64-1")
    return number


def _count(
    native: _ratewire.Scenario, own: tuple[list[str] | None, list[int] | None], worlds: int
) -> int:
    laws, seeds = own
    return len(native.laws if laws is None else laws) * len(seeds or [0]) * worlds


def _values(key: str, values: str | Sequence[object]) -> str:
    if isinstance(values, str):
        return values
    if not isinstance(values, Iterable):
        raise SettingError(f"over {key!r} stands {values!r}, which is no list: write [{values!r}]")
    return ",".join(one if isinstance(one, str) else _toml.value(one) for one in values)
