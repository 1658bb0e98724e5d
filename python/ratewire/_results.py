"""Results of runs, comparisons, sweeps and papers."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, Union

from ratewire import _ratewire
from ratewire._decode import decoded
from ratewire._errors import FileError, SettingError
from ratewire._ratewire import Table
from ratewire._summary import Expectation, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Path: TypeAlias = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class FigureInfo:
    """A figure that can be drawn."""

    name: str
    """Name for :meth:`Results.plot`."""
    title: str
    """Title of the figure."""
    unit: str
    """Unit of its values; empty for plain numbers."""
    parts: list[str]
    """What can follow the name and a slash, such as links: ``queue/bottleneck``."""


class FigureChoice(TypedDict, total=False):
    """What of a figure is drawn: keywords of ``plot`` and ``draw``, as options of the command."""

    panels: Literal["auto", "one", "each"]
    """Panels of a figure over time."""
    law: str | Sequence[str]
    """Laws whose lines are drawn, in this order."""
    flow: str | Sequence[str]
    """Flows whose lines are drawn, in this order."""
    during: str | tuple[float | str, float | str]
    """First and last time: ``"5s..30s"``, or each in seconds or as text with a unit."""
    names: Mapping[str, str]
    """By line, law or flow: what the figure calls it."""
    x_range: tuple[float | None, float | None]
    """Range of the horizontal axis in its unit; an end may be None."""
    y_range: tuple[float | None, float | None]
    """Range of the vertical axis in its unit; an end may be None."""
    x_log: bool
    """Whether the horizontal axis is logarithmic."""
    y_log: bool
    """Whether the vertical axis is logarithmic."""


class _Native(Protocol):
    """What all native results have."""

    def page(self) -> str: ...
    def json(self) -> str: ...
    def report(self, path: str) -> None: ...


class _Drawn(_Native, Protocol):
    """Native results with figures."""

    def figures(self) -> _ratewire.Figures: ...


class _Paged:
    """Results with a page, which a notebook shows."""

    _native: _Native

    def report(self, path: Path) -> None:
        """Writes the page: one HTML file that needs no network.

        Missing folders are created, and a page that Ratewire wrote earlier is replaced. Raises
        :class:`FileError` if another file is there, or if the page cannot be written.
        """
        self._native.report(os.fspath(path))

    def _repr_html_(self) -> str:
        page = html.escape(self._native.page(), quote=True)
        # The page forbids itself to load anything; the frame may only run its scripts.
        style = "width: 100%; height: 46em; border: 0"
        sandbox = "allow-scripts allow-downloads"
        return f'<iframe srcdoc="{page}" sandbox="{sandbox}" style="{style}"></iframe>'


class _Figured(_Paged):
    """Results with figures."""

    _native: _Drawn

    @cached_property
    def _figures(self) -> _ratewire.Figures:
        return self._native.figures()

    @property
    def figures(self) -> list[FigureInfo]:
        """The figures of the page, in its order."""
        listed = self._figures.list()
        return [FigureInfo(*one, parts=self._figures.parts(one[0])) for one in listed]

    def plot(
        self,
        figure: str,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        two_columns: bool = False,
        serif: bool = False,
        **choice: Unpack[FigureChoice],
    ) -> Figure:
        """Draws a figure with matplotlib in the look of a paper, and returns matplotlib's figure.

        ``figure`` is a name of :attr:`figures`, such as ``throughput`` or ``queue/bottleneck``.
        ``ax`` are the axes to draw on, one for each panel. :class:`FigureChoice` chooses lines,
        time and axes. Needs matplotlib.
        """
        from ratewire._plot import draw

        data = json.loads(self._figures.json(figure, _chosen(choice)))
        return draw(data, ax, two_columns=two_columns, serif=serif)

    def draw(
        self,
        figure: str,
        path: Path,
        *,
        two_columns: bool = False,
        serif: bool = False,
        width: float | str | None = None,
        height: float | str | None = None,
        font_size: float = 8.0,
        **choice: Unpack[FigureChoice],
    ) -> None:
        """Writes a figure as the command draws it: svg, pdf, png or csv, by the path's ending.

        ``width`` and ``height`` are inches, or text with a unit: ``"89mm"``. ``font_size`` is the
        height of letters in points. :class:`FigureChoice` chooses lines, time and axes. Needs no
        matplotlib. An earlier file is replaced.
        """
        style = {
            "two_columns": two_columns,
            "serif": serif,
            "width": width,
            "height": height,
            "font_size": font_size,
        }
        self._figures.write(figure, os.fspath(path), style, _chosen(choice))


def _chosen(choice: FigureChoice) -> dict[str, Any]:
    """A choice as the native module takes it: with every key."""
    known = FigureChoice.__annotations__
    for key in choice:
        if key not in known:
            raise TypeError(f"unexpected keyword argument {key!r}; known: {', '.join(known)}")
    during = choice.get("during")
    return {
        "panels": choice.get("panels", "auto"),
        "laws": _listed(choice.get("law", ())),
        "flows": _listed(choice.get("flow", ())),
        "during": _ends(during) if isinstance(during, str) else during,
        "names": list(choice.get("names", {}).items()),
        "x_range": choice.get("x_range", (None, None)),
        "y_range": choice.get("y_range", (None, None)),
        "x_log": choice.get("x_log"),
        "y_log": choice.get("y_log"),
    }


def _ends(during: str) -> tuple[str, str]:
    start, dots, end = during.partition("..")
    if not dots:
        raise SettingError(f"during: {during!r} is no part of a run, such as '5s..30s'")
    return start, end


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


class Results(_Figured):
    """Results of an experiment: figures, samples and the page of all its runs.

    Tables have Arrow's PyCapsule interface: ``pyarrow.table(results.flows)``,
    ``polars.DataFrame(results.flows)``, ``pandas.DataFrame.from_arrow(results.flows)``, and
    DuckDB's ``FROM`` take them without a copy.
    """

    def __init__(self, native: _ratewire.Results) -> None:
        self._native: _ratewire.Results = native

    @classmethod
    def load(cls, folder: Path) -> Results:
        """Reads the results in a folder that :meth:`save` or ``ratewire run`` wrote.

        Raises :class:`FileError` if there are none.
        """
        if os.path.isfile(os.path.join(folder, "sweep.parquet")):
            raise FileError(
                f"{os.fspath(folder)} has the results of a sweep\n"
                "  help: read sweep.parquet there, which has a row a run; ratewire.sweep with this "
                "folder and its former arguments takes the finished runs from there"
            )
        return cls(_ratewire.Results.load(os.fspath(folder)))

    def save(self, folder: Path) -> None:
        """Writes all files of the results into a folder, as ``ratewire run --out`` does.

        Missing folders are created. Results replace earlier ones there, all or none. Raises
        :class:`FileError` if the folder cannot be written.
        """
        self._native.save(os.fspath(folder))

    @cached_property
    def summary(self) -> Summary:
        """Exact figures of all runs, and the expectations."""
        return decoded(Summary, json.loads(self._native.json()))

    @property
    def passed(self) -> bool:
        """Whether all runs came to their end, and every expectation holds.

        An emulated run must also have been reliable.
        """
        summary = self.summary
        whole = all(run.planned_duration_s is None for run in summary.runs)
        true = all(run.fidelity is None or run.fidelity.holds for run in summary.runs)
        return whole and true and all(one.passed for one in summary.expectations)

    @cached_property
    def flows(self) -> Table:
        """Samples of every flow at the end of every sampling interval."""
        return self._native.flows()

    @cached_property
    def links(self) -> Table:
        """Samples of every link at the end of every sampling interval."""
        return self._native.links()

    @cached_property
    def completions(self) -> Table:
        """Flows of a given size, complete or not."""
        return self._native.completions()

    @cached_property
    def groups(self) -> Table:
        """Samples of every group of an overlay; empty without one."""
        return self._native.groups()

    def __str__(self) -> str:
        return self._native.table() or repr(self)

    def __repr__(self) -> str:
        runs = [f"{run.law} from seed {run.seed}" for run in self.summary.runs]
        return f"<Results of {', '.join(runs)}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (list(self._native.files().items()),)


def _unpickled(files: list[tuple[str, bytes]]) -> Results:
    return Results(_ratewire.Results.of_files(files))


@dataclass(frozen=True)
class ComparisonRow:
    """A figure of a comparison under one law."""

    figure: str
    """Name of the figure: ``utilisation``, ``queue/hop2``."""
    title: str
    """What people call it."""
    about: str
    """``chosen`` for a figure that was asked for, ``run``, ``sizes``, or ``changes``."""
    unit: str
    """``share`` (0 to 1), ``index``, ``packets``, ``count``, ``seconds``, ``ratio``, ``rate``
    (bits per second), or ``power`` (bits per second over seconds).
    """
    better: str
    """Which of two values is better: ``more``, ``less``, or ``neither``."""
    law: str
    """The law."""
    mean: float | None
    """Mean over the seeds; ``None`` if a seed has no value."""
    margin: float | None
    """Half the 95 % interval of the mean; ``None`` for a single seed, if every seed gave the same
    value, and for maxima and percentiles.
    """
    range: tuple[float, float] | None
    """Least and largest value of a seed, for maxima and percentiles, if seeds differ."""
    standing: str
    """``best``, ``within_noise`` of the best, ``worse``, ``unknown`` if a value is missing or a
    single seed leaves it to chance, or ``unranked`` if no value is better than another.
    """
    seeds: list[int]
    """The seeds; the first alone if nothing is left to chance."""
    values: list[float | None]
    """The value of each seed; ``None`` where there was nothing to measure."""


class Comparison(_Figured):
    """Laws over several seeds, and which differences are more than noise.

    ``str()`` is the command's table.
    """

    def __init__(self, native: _ratewire.Comparison) -> None:
        self._native: _ratewire.Comparison = native

    @cached_property
    def content(self) -> dict[str, Any]:
        """Means, intervals and differences: the content of ``comparison.json``."""
        content: dict[str, Any] = json.loads(self._native.json())
        return content

    @cached_property
    def rows(self) -> list[ComparisonRow]:
        """The comparison's values: a row for each figure and law, figures asked for first.

        ``pandas.DataFrame(comparison.rows)`` and ``polars.DataFrame(comparison.rows)`` take them.
        """
        seeds, figures = self.content["seeds"], self.content["figures"]
        rows = [
            {**figure, **law, "figure": figure["name"], "seeds": seeds}
            for figure in figures
            for law in figure["laws"]
        ]
        return decoded(list[ComparisonRow], rows)

    def save(self, folder: Path) -> None:
        """Writes ``comparison.html`` and ``comparison.json`` into a folder."""
        self._native.save(os.fspath(folder))

    def __str__(self) -> str:
        return self._native.table()


class SweepResults(_Figured):
    """Figures of runs over a grid of values. ``str()`` is the command's table."""

    def __init__(self, native: _ratewire.Sweep) -> None:
        self._native: _ratewire.Sweep = native

    @cached_property
    def runs(self) -> Table:
        """Figures of every run, a row a run, with columns of the swept keys."""
        return self._native.runs()

    @cached_property
    def content(self) -> dict[str, Any]:
        """The content of ``sweep.json``."""
        content: dict[str, Any] = json.loads(self._native.json())
        return content

    def __str__(self) -> str:
        return self._native.table()


@dataclass(frozen=True)
class Claim(Expectation):
    """A claim of a paper, and what was measured."""

    paper: str
    """The paper, by the name of its folder."""
    figure: str
    """The figure: ``Figure 8``."""
    scenario: str
    """File of the scenario."""
    verdict: str
    """``reproduced``, ``as derived``, ``fitted``, ``set after a run``, ``not reproduced`` or
    ``failed``."""


class Reproduction(_Paged):
    """Figures of papers that were run again, and how their claims fared."""

    def __init__(self, native: _ratewire.Reproduction) -> None:
        self._native: _ratewire.Reproduction = native

    @cached_property
    def claims(self) -> list[Claim]:
        """All claims, in the order of the papers."""
        return decoded(list[Claim], json.loads(self._native.json()))

    @property
    def passed(self) -> bool:
        """Whether no claim failed."""
        return all(claim.passed for claim in self.claims)


def of_native(results: Any) -> Any:
    """The package's object for a native one; others as they are."""
    if isinstance(results, _ratewire.Results):
        return Results(results)
    return SweepResults(results) if isinstance(results, _ratewire.Sweep) else results
