"""Ways to run scenarios."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ratewire import _ratewire, _toml
from ratewire._asked import Asked, FigureNames, Laws, Seeds, asked, following, renamed
from ratewire._errors import SettingError
from ratewire._executor import check_importable, on
from ratewire._law import LawLike
from ratewire._progress import progress as shown
from ratewire._results import Comparison, Path, Reproduction, Results, SweepResults
from ratewire._scenario import Scenario, ScenarioLike, Values, scenario_of
from ratewire._store import Store, is_url


def run(
    scenario: ScenarioLike,
    *,
    law: Laws | None = None,
    seed: Seeds | None = None,
    during: str | None = None,
    figures: FigureNames | None = None,
    set: Values | None = None,
    world: str | Iterable[str] = "simulate",
    folder: Path | None = None,
    progress: bool | None = None,
    laws: Laws | None = None,
    seeds: Seeds | None = None,
) -> Results:
    """Runs a scenario on all cores, and returns the results.

    ``scenario`` is a :class:`Scenario`, the path of a file, TOML text (text with a line break),
    or a dictionary. ``law`` and ``seed`` replace the scenario's own. Each is one, several, or the
    command's text: ``"xcp,cubic"`` or ``["xcp", "cubic"]``, ``"1..5"`` or ``range(1, 6)``. A law
    may be a class of one's own (:class:`ratewire.Law`).

    Figures are about the part ``during`` of each run, ``"5s..30s"`` or ``"5s.."``, in place of the
    scenario's own. Of flows that complete, those that start in it count. ``figures`` asks for
    figures of links, flows or the run by name, ``"queue/hop2,jain"`` or ``["queue/hop2", "jain"]``:
    :attr:`RunSummary.figures` has them.

    ``set`` changes values: ``{"bottleneck.rate": "10 Mbit/s"}``. ``world`` is ``simulate`` or
    ``emulate``, which needs root. With ``folder``, samples are written there and not kept in
    memory. ``progress`` is shown by tqdm, where it is installed, on a terminal and in a notebook;
    ``True`` and ``False`` decide. ``laws`` and ``seeds`` are former names of ``law`` and ``seed``.

    Python's lock is free during runs. Ctrl-C ends them, raises ``KeyboardInterrupt``, and leaves
    a folder as it was.

    Raises :class:`ScenarioError` for errors in the scenario, :class:`SettingError` for other
    arguments, and :class:`IncompleteError`, which has the other results, if some runs fail.
    Warns with :class:`ScenarioWarning`.
    """
    law = renamed("law", law, "laws", laws)
    seed = renamed("seed", seed, "seeds", seeds)
    wanted, own_laws = asked(law, seed, during, figures)
    native = scenario_of(scenario, set, own_laws)
    worlds = _texts(world)
    runs = _count(native, wanted, len(worlds))
    with shown(native.duration_s * runs, progress) as reach:
        path = None if folder is None else os.fspath(folder)
        return Results(_ratewire.run(native, wanted, worlds, None, path, reach))


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
    wanted, own_laws = asked(law, seed)
    native = scenario_of(scenario, set, own_laws)
    if law is None:
        wanted = replace(wanted, laws=native.laws[:1])
    time = at.replace(" ", "") if isinstance(at, str) else f"{at}s"
    question = f"{flow}@{time}"
    results = _ratewire.run(native, wanted, ["simulate"], question, None, None)
    return results.answers()[0][2]


def compare(
    scenario: ScenarioLike,
    law: Laws | None = None,
    *,
    seed: Seeds | None = None,
    during: str | None = None,
    figures: FigureNames | None = None,
    set: Values | None = None,
    progress: bool | None = None,
    laws: Laws | None = None,
    seeds: int | None = None,
) -> Comparison:
    """Compares laws over several seeds, with 95 % intervals.

    ``law``, ``seed``, ``during`` and ``figures`` are those of :func:`run`. Laws are those of the
    scenario by default; ``"all"`` stands for all that react to the network. Seeds are the
    scenario's seed and the four that follow by default. ``seeds``, their number, is the former way
    to give them, and ``laws`` the former name of ``law``.

    Raises as :func:`run`; :class:`RunError` if a run fails.
    """
    law = renamed("law", law, "laws", laws)
    renamed("seed", seed, "seeds", seeds, ' with the seeds themselves, such as "1..5"')
    wanted, own_laws = asked(law, seed, during, figures)
    native = scenario_of(scenario, set, own_laws)
    if seeds is not None:
        wanted = replace(wanted, seeds=following(native.seed, seeds))
    with shown(None, progress) as reach:
        return Comparison(_ratewire.compare(native, wanted, reach))


def sweep(
    scenario: ScenarioLike,
    over: Mapping[str, str | Sequence[object]],
    *,
    law: Laws | None = None,
    seed: Seeds | None = None,
    during: str | None = None,
    figures: FigureNames | None = None,
    set: Values | None = None,
    folder: Path | None = None,
    executor: Any = None,
    progress: bool | None = None,
    laws: Laws | None = None,
    seeds: Seeds | None = None,
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

    ``law``, ``seed``, ``during`` and ``figures`` are those of :func:`run`; ``laws`` and ``seeds``
    are former names.

    Raises as :func:`run`; :class:`RunError` if a run fails; :class:`FileError` if the folder cannot
    be written, and :class:`IncompleteError`, which has the results, if it cannot at the end.
    """
    law = renamed("law", law, "laws", laws)
    seed = renamed("seed", seed, "seeds", seeds)
    wanted, own_laws = asked(law, seed, during, figures)
    native = scenario_of(scenario, set, own_laws)
    axes = [(key, _values(key, values)) for key, values in over.items()]
    path, store = None if folder is None else os.fspath(folder), None
    if path is not None and is_url(path):
        store, path = (Store(path), path), None
    with shown(None, progress) as reach:
        elsewhere = None
        if executor is not None:
            portable = _portable(scenario, set, own_laws)
            check_importable(executor, portable)
            elsewhere = on(executor, portable, wanted)
        return SweepResults(_ratewire.sweep(native, axes, wanted, path, store, reach, elsewhere))


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


def _count(native: _ratewire.Scenario, wanted: Asked, worlds: int) -> int:
    laws = native.laws if wanted.laws is None else wanted.laws
    return len(laws) * len(wanted.seeds or [0]) * worlds


def _values(key: str, values: str | Sequence[object]) -> str:
    if isinstance(values, str):
        return values
    if not isinstance(values, Iterable):
        raise SettingError(f"over {key!r} stands {values!r}, which is no list: write [{values!r}]")
    return ",".join(one if isinstance(one, str) else _toml.value(one) for one in values)
