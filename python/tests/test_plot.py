"""Figures, by matplotlib and as the command draws them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

import ratewire
from conftest import Command
from ratewire import _plot

mpl.use("agg")


def test_every_figure_is_drawn(results: ratewire.Results) -> None:
    from matplotlib import pyplot

    names = [figure.name for figure in results.figures]
    assert {"throughput", "queue"} <= set(names)
    for name in names:
        figure = results.plot(name)
        figure.draw_without_rendering()
        pyplot.close(figure)


def test_a_figure_has_the_papers_look(results: ratewire.Results) -> None:
    from matplotlib import pyplot

    figure = results.plot("utilisation", serif=True)
    assert figure.get_size_inches()[0] == pytest.approx(_plot.ONE_COLUMN)
    drawn = figure.axes[0].get_lines()
    assert {line.get_label() for line in drawn} >= {"xcp", "cubic"}
    assert {line.get_color() for line in drawn} <= set(_plot.PALETTE)
    assert figure.axes[0].xaxis.get_ticklabels()[0].get_fontfamily() == ["serif"]
    pyplot.close(figure)


def test_every_marker_and_ring_is_drawn() -> None:
    from matplotlib import pyplot

    axis = {"title": "x", "unit": "", "low": 0, "high": 20, "log": False, "names": []}
    series = [
        {"name": f"law {n}", "hue": n, "dash": 0, "mark": n, "kind": "marks", "margins": []}
        | {"points": [[n, n]]}
        for n in range(len(_plot.MARKERS))
    ]
    series.append({**series[0], "kind": "claimed", "hue": -1, "name": "claimed"})
    data: dict[str, Any] = {"name": "a", "x": axis, "y": axis, "marks": [], "scale": None}
    data["panels"] = [{"title": "", "series": series}]
    figure = _plot.draw(data, None, two_columns=False, serif=False)
    figure.draw_without_rendering()
    ring = figure.axes[0].get_lines()[-1]
    assert ring.get_markerfacecolor() == "none"
    pyplot.close(figure)


def test_a_figure_is_drawn_on_axes_that_are_there(results: ratewire.Results) -> None:
    from matplotlib import pyplot

    mine, ax = pyplot.subplots()
    assert results.plot("queue", ax) is mine
    assert ax.get_ylabel() == "Queue (packets)"
    with pytest.raises(ratewire.SettingError, match="no figure is called"):
        results.plot("queues", ax)
    two = pyplot.subplots(1, 2)[1]
    with pytest.raises(ratewire.SettingError, match="has 1 panels"):
        results.plot("queue", list(two))
    pyplot.close("all")


def test_colours_and_files_are_the_commands(
    results: ratewire.Results, command: Command, tmp_path: Path
) -> None:
    results.save(tmp_path / "out")
    mine, theirs = tmp_path / "mine.svg", tmp_path / "theirs.svg"
    # Lines of laws, and lines of flows.
    for figure, hues in [("queue", range(12)), ("throughput", range(12, 18))]:
        results.draw(figure, mine)
        command("plot", tmp_path / "out", figure, "-o", theirs)
        assert mine.read_bytes() == theirs.read_bytes()
        drawn = set(re.findall('fill="(#[0-9a-f]{6})"', mine.read_text())) - {_plot.INK}
        assert drawn
        assert drawn <= {_plot.PALETTE[hue] for hue in hues}
    with pytest.raises(ratewire.SettingError, match="svg"):
        results.draw("throughput", tmp_path / "figure.doc")


def test_without_matplotlib_the_error_says_what_to_install(
    results: ratewire.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ratewire.Error, match="pip install matplotlib"):
        results.plot("queue")


def test_choices_are_the_commands(
    results: ratewire.Results, command: Command, tmp_path: Path
) -> None:
    results.save(tmp_path / "out")
    mine, theirs = tmp_path / "mine.svg", tmp_path / "theirs.svg"
    results.draw(
        "queue",
        mine,
        width="89mm",
        height=2.5,
        font_size=7,
        law=["cubic", "xcp"],
        during=(0.5, "1.5 s"),
        names={"cubic": "CUBIC"},
        y_range=(None, 8.0),
    )
    options = ["--width", "89mm", "--height", "2.5", "--font-size", "7", "--law", "cubic,xcp"]
    options += ["--during", "0.5s..1.5s", "--name", "cubic=CUBIC", "--y-range", "..8"]
    command("plot", tmp_path / "out", "queue", *options, "-o", theirs)
    assert mine.read_bytes() == theirs.read_bytes()
    assert ">CUBIC<" in mine.read_text()


def test_what_is_chosen_is_drawn_with_matplotlib(results: ratewire.Results) -> None:
    from matplotlib import pyplot

    with pytest.warns(UserWarning, match="logarithmic vertical axis leaves them out") as noted:
        figure = results.plot("throughput", flow="short", panels="one", y_log=True)
    assert noted[0].filename == __file__
    (ax,) = figure.axes
    assert ax.get_yscale() == "log"
    assert [line.get_label() for line in ax.get_lines()] == ["xcp short", "cubic short"]
    pyplot.close(figure)


def test_choices_that_no_figure_offers_are_refused(
    results: ratewire.Results, tmp_path: Path
) -> None:
    path = tmp_path / "figure.svg"
    with pytest.raises(ratewire.SettingError, match="no law is called"):
        results.draw("queue", path, law=["cubc"])
    with pytest.raises(ratewire.SettingError, match=r"width: .* is no side of a figure"):
        results.draw("queue", path, width=0.1)
    with pytest.raises(ratewire.SettingError, match="the run has ended"):
        results.draw("queue", path, during="0s..9s")
    with pytest.raises(ratewire.SettingError, match="no part of a run"):
        results.draw("queue", path, during="9s")
    with pytest.raises(ratewire.SettingError, match="allowed: auto, one, each"):
        results.draw("queue", path, panels="two")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="known: panels, law"):
        results.plot("queue", lines=["xcp"])  # type: ignore[call-arg]
    assert not path.exists()


def test_tiles_have_a_scale(small: Path) -> None:
    from matplotlib import pyplot

    over = {"bottleneck.rate": ["5M", "10M"], "bottleneck.queue": ["0.5 bdp", "1 bdp"]}
    sweep = ratewire.sweep(small, over, law="xcp", set={"duration": "1 s"})
    figure = sweep.plot("map/utilisation")
    tiles, scale = figure.axes
    assert len(tiles.patches) == 4
    assert scale.get_xlabel() == "Utilisation (%)"
    pyplot.close(figure)
