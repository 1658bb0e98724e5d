"""Figures drawn with matplotlib, in the look of a paper: that of ``ratewire plot``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ratewire._errors import Error, SettingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

#: Colours of laws, and after them the tones of flows, as on the page.
PALETTE = (
    "#0072b2", "#d55e00", "#008a63", "#b8558f", "#9a6a00", "#8c1d3f",
    "#6a4fc0", "#a838d8", "#0090a8", "#5d8a00", "#d81e2c", "#1f3f77",
    "#1f2a38", "#8a7a63", "#566a84", "#93889a", "#4f4236", "#7f9383",
)  # fmt: skip
#: Colour of series that have none of their own.
INK = "#000000"
#: Dashes in widths of the line, and markers, by number.
DASHES = ("solid", (0, (5, 2.5)), (0, (1.5, 2)), (0, (6, 2, 1.5, 2)))
HOURGLASS = [(-1, 1.2), (1, 1.2), (0.25, 0), (1, -1.2), (-1, -1.2), (-0.25, 0), (-1, 1.2)]
BOW_TIE = [(-1.2, 1), (0, 0.25), (1.2, 1), (1.2, -1), (0, -0.25), (-1.2, -1), (-1.2, 1)]
MARKERS: tuple[Any, ...] = ("o", "s", "^", "D", "v", "P", "X", "*", HOURGLASS, BOW_TIE, "p")
#: Brightness from which the text on a tile is dark.
BRIGHT = 0.47
#: Widths of one column and of two, inches, as in journals of the IEEE.
ONE_COLUMN, TWO_COLUMNS = 3.5, 7.16
#: Size of letters, points.
FONT = 8.0
#: Markers of a line with many points.
ALONG = 7


def draw(
    figure: dict[str, Any],
    ax: Axes | Sequence[Axes] | None,
    *,
    two_columns: bool,
    serif: bool,
) -> Figure:
    """Draws a figure on the axes of its panels, or on a new one."""
    try:
        from matplotlib import rc_context
    except ImportError as missing:
        raise Error("plot needs matplotlib: pip install matplotlib") from missing
    with rc_context(_style(serif)):
        axes = _axes(figure, ax, TWO_COLUMNS if two_columns else ONE_COLUMN)
        for number, (panel, one) in enumerate(zip(figure["panels"], axes, strict=True)):
            _panel(figure, panel, one, is_first=number == 0, is_own=ax is None)
        _legend(axes, is_own=ax is None)
        if ax is None and figure["scale"]:
            _scale(figure["scale"], axes)
        whole = axes[0].get_figure(root=True)
        if whole is None:
            raise SettingError("the axes in `ax` belong to no figure")
        return whole


def _style(serif: bool) -> Any:
    family = "serif" if serif else "sans-serif"
    return {
        "font.family": family,
        "font.sans-serif": ["Liberation Sans", "Helvetica", "Arial", "DejaVu Sans"],
        "font.serif": ["Liberation Serif", "Times New Roman", "Times", "DejaVu Serif"],
        "font.size": FONT,
        "axes.labelsize": FONT,
        "axes.titlesize": FONT,
        "xtick.labelsize": FONT,
        "ytick.labelsize": FONT,
        "legend.fontsize": FONT,
        "axes.linewidth": 0.06 * FONT,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.06 * FONT,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "lines.linewidth": 0.13 * FONT,
    }


def _axes(figure: dict[str, Any], ax: Axes | Sequence[Axes] | None, width: float) -> Sequence[Axes]:
    panels = len(figure["panels"])
    if ax is not None:
        given = list(ax) if isinstance(ax, Sequence) else [ax]
        if len(given) != panels:
            name = figure["name"]
            raise SettingError(f"the figure {name} has {panels} panels; give as many axes in `ax`")
        return given
    from matplotlib import pyplot

    most = max(1, int(width * 72 / (15 * FONT)))
    rows = math.ceil(panels / min(most, panels))
    columns = math.ceil(panels / rows)
    height = 0.44 * width if panels == 1 else 0.6 * width / columns
    made, grid = pyplot.subplots(
        rows,
        columns,
        figsize=(width, rows * max(height, 1.2) + 0.5),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    every = list(grid.flat)
    for unused in every[panels:]:
        unused.set_axis_off()
    made.supxlabel(_label(figure["x"]), fontsize=FONT)
    made.supylabel(_label(figure["y"]), fontsize=FONT)
    return every[:panels]


def _panel(
    figure: dict[str, Any], panel: dict[str, Any], ax: Axes, *, is_first: bool, is_own: bool
) -> None:
    x, y = figure["x"], figure["y"]
    if x["log"]:
        ax.set_xscale("log")
    if y["log"]:
        ax.set_yscale("log")
    ax.set_xlim(x["low"], x["high"])
    ax.set_ylim(y["low"], y["high"])
    if x["names"]:
        ax.xaxis.set_ticks(_places(x["names"]), x["names"])
    if y["names"]:
        ax.yaxis.set_ticks(_places(y["names"]), y["names"])
    if len(figure["panels"]) > 1:
        ax.set_title(panel["title"], loc="left")
    if not is_own:
        ax.set_xlabel(_label(x))
        if is_first:
            ax.set_ylabel(_label(y))
    for mark in figure["marks"]:
        if x["low"] < mark < x["high"]:
            ax.axvline(mark, color=INK, linewidth=0.06 * FONT, linestyle=(0, (5, 5)))
    series = panel["series"]
    for number, one in enumerate(series):
        following = series[number + 1] if number + 1 < len(series) else None
        _series(figure, panel, ax, one, following)


def _series(
    figure: dict[str, Any],
    panel: dict[str, Any],
    ax: Axes,
    series: dict[str, Any],
    following: dict[str, Any] | None,
) -> None:
    xs = [point[0] for point in series["points"]]
    ys = _numbers(point[1] for point in series["points"])
    hue = series["hue"]
    colour = PALETTE[hue % len(PALETTE)] if hue >= 0 else INK
    marker = MARKERS[series["mark"] % len(MARKERS)]
    own: dict[str, Any] = {"color": colour, "markersize": 0.5 * FONT, "markeredgewidth": 0}
    # The title of a panel, or a name on the axis, tells what a legend would tell.
    is_told = series["name"] in ("", panel["title"]) or series["name"] in figure["x"]["names"]
    own["label"] = "_" + series["name"] if is_told else series["name"]
    dash = DASHES[series["dash"] % len(DASHES)]
    match series["kind"]:
        case "line" | "steps":
            step = "steps-post" if series["kind"] == "steps" else "default"
            every = max(1, len(xs) // ALONG)
            ax.plot(xs, ys, drawstyle=step, linestyle=dash, marker=marker, markevery=every, **own)
        case "band" if following is not None:
            lower = _numbers(point[1] for point in following["points"])
            ax.fill_between(xs, ys, lower, color=colour, alpha=0.2, linewidth=0)
        case "dots":
            ax.plot(xs, ys, ".", alpha=0.5, **{**own, "markersize": 0.24 * FONT})
        case "joined" | "marks":
            line = dash if series["kind"] == "joined" else "none"
            ax.plot(xs, ys, linestyle=line, marker=marker, **own)
            if any(margin is not None for margin in series["margins"]):
                bars = [margin or 0 for margin in series["margins"]]
                ax.errorbar(
                    xs, ys, bars, fmt="none", ecolor=colour, elinewidth=0.09 * FONT, capsize=2
                )
        case "claimed":
            ring = {"markersize": FONT, "markeredgewidth": 0.12 * FONT, "markerfacecolor": "none"}
            ax.plot(xs, ys, "o", **{**own, **ring})
        case "tiles":
            _tiles(figure["scale"], ax, series)


def _tiles(scale: dict[str, Any], ax: Axes, series: dict[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    colours = _colours(scale)
    ax.grid(visible=False)
    for (x, y), value in zip(series["points"], series["values"], strict=True):
        if y is None or value is None:
            continue
        own = colours.to_rgba(value)
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=own, edgecolor="white"))
        brightness = 0.299 * own[0] + 0.587 * own[1] + 0.114 * own[2]
        ink = INK if brightness > BRIGHT else "white"
        ax.text(x, y, f"{value:.3g}", ha="center", va="center", color=ink)


def _scale(scale: dict[str, Any], axes: Sequence[Axes]) -> None:
    """The scale of tiles, above the panels of a new figure."""
    whole = axes[0].get_figure(root=True)
    if whole is not None:
        bar = whole.colorbar(_colours(scale), ax=list(axes), location="top", aspect=40)
        bar.set_label(_label(scale), loc="left")


def _colours(scale: dict[str, Any]) -> ScalarMappable:
    """The colours of a scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    kind = LogNorm if scale["log"] else Normalize
    return ScalarMappable(kind(scale["low"], scale["high"], clip=True), "viridis")


def _legend(axes: Sequence[Axes], *, is_own: bool) -> None:
    """A legend that has each name once, if there are several: above the panels of a new figure."""
    named: dict[str, Any] = {}
    for one in axes:
        handles, labels = one.get_legend_handles_labels()
        for label, handle in zip(labels, handles, strict=True):
            named.setdefault(label, handle)
    whole = axes[0].get_figure()
    if len(named) < 2 or whole is None:
        return
    handles, labels = list(named.values()), list(named)
    if is_own:
        columns = len(named)
        whole.legend(handles, labels, loc="outside upper left", ncols=columns, frameon=False)
    else:
        axes[0].legend(handles, labels, frameon=False)


def _label(axis: dict[str, Any]) -> str:
    return f"{axis['title']} ({axis['unit']})" if axis["unit"] else str(axis["title"])


def _places(names: list[str]) -> list[float]:
    """Places of names along an axis."""
    return [float(place) for place in range(len(names))]


def _numbers(values: Any) -> list[float]:
    return [math.nan if value is None else value for value in values]
