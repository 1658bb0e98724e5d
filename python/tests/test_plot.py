"""Figures, by matplotlib and as the command draws them."""

from __future__ import annotations

import sys
from pathlib import Path

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
    results.draw("throughput", mine)
    command("plot", tmp_path / "out", "throughput", "-o", theirs)
    assert mine.read_bytes() == theirs.read_bytes()
    assert _plot.PALETTE[0] in mine.read_text()
    with pytest.raises(ratewire.SettingError, match="svg"):
        results.draw("throughput", tmp_path / "figure.doc")


def test_without_matplotlib_the_error_says_what_to_install(
    results: ratewire.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ratewire.Error, match="pip install matplotlib"):
        results.plot("queue")
