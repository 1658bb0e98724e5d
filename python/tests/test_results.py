"""Results: summaries, folders, pages, and the same bytes as the command's."""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ratewire
from conftest import ROOT, Command
from ratewire import Scenario


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    every = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in every}


def test_saved_results_are_the_commands_byte_for_byte(
    small: Path, command: Command, tmp_path: Path
) -> None:
    done = command("run", small, "--seed", "1,2", "--out", tmp_path / "command", "--quiet")
    assert done.returncode == 0, done.stderr
    ratewire.run(small, seed=[1, 2]).save(tmp_path / "python")
    theirs, ours = files(tmp_path / "command"), files(tmp_path / "python")
    assert theirs.keys() == ours.keys()
    assert "xcp-seed-2/flows.parquet" in ours
    for name, content in theirs.items():
        if name.endswith("run.json"):
            # Only the command has a command line.
            them, us = json.loads(content), json.loads(ours[name])
            assert them.pop("command")
            assert us.pop("command") == []
            assert them == us
        else:
            assert content == ours[name], name


def test_results_in_a_folder_are_those_in_memory(small: Path, tmp_path: Path) -> None:
    ratewire.run(small, law="xcp", folder=tmp_path / "one")
    ratewire.run(small, law="xcp").save(tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_loaded_results_have_all_that_was_saved(results: ratewire.Results, tmp_path: Path) -> None:
    results.save(tmp_path / "saved")
    loaded = ratewire.Results.load(tmp_path / "saved")
    assert loaded.summary == results.summary
    assert pa.table(loaded.flows).equals(pa.table(results.flows))
    assert pa.table(loaded.completions).equals(pa.table(results.completions))
    assert loaded.figures == results.figures
    assert loaded.passed
    loaded.save(tmp_path / "again")
    assert files(tmp_path / "again") == files(tmp_path / "saved")


def test_pickled_results_are_the_same(results: ratewire.Results) -> None:
    again = pickle.loads(pickle.dumps(results))
    assert again.summary == results.summary
    assert pa.table(again.links).equals(pa.table(results.links))


def test_the_summary_has_every_figure_of_the_json(
    results: ratewire.Results, tmp_path: Path
) -> None:
    results.save(tmp_path)
    written = json.loads((tmp_path / "summary.json").read_text())
    assert plain(results.summary) == written


@pytest.mark.filterwarnings("ignore::ratewire.ScenarioWarning")
@pytest.mark.parametrize(
    ("scenario", "figure"),
    [("daemon-crash", "overlay"), ("pauses", "links"), ("mice-and-elephant", "traffic")],
)
def test_summaries_of_all_kinds_have_every_figure(scenario: str, figure: str) -> None:
    path = ROOT / "scenarios" / f"{scenario}.toml"
    native = ratewire.run(path, law=Scenario.load(path).laws[0], set={"duration": "0.5 s"})._native
    written = json.loads(native.json())
    assert written["runs"][0][figure]
    assert plain(ratewire.Results(native).summary) == written


def plain(content: Any) -> Any:
    """A dataclass as the JSON that it was made of."""
    if dataclasses.is_dataclass(content) and not isinstance(content, type):
        fields = {field.name: getattr(content, field.name) for field in dataclasses.fields(content)}
        # What is left out of the JSON where a run came to its end, all of it was measured, and no
        # figure was asked for.
        for name in ("planned_duration_s", "measured_from_s", "measured_to_s", "figures"):
            if fields.get(name, 0) in (None, {}):
                del fields[name]
        return {name.rstrip("_"): plain(value) for name, value in fields.items()}
    if isinstance(content, list | tuple):
        return [plain(one) for one in content]
    return content


def test_the_page_is_written_and_shown_in_a_notebook(
    results: ratewire.Results, tmp_path: Path
) -> None:
    results.report(tmp_path / "new" / "report.html")
    page = (tmp_path / "new" / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    shown = results._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "Small" in shown
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(ratewire.FileError, match="Ratewire did not write"):
        results.report(tmp_path / "mine.html")


def test_tables_of_text(results: ratewire.Results) -> None:
    assert "bottleneck" in str(results)
    assert repr(results) == "<Results of xcp from seed 1, cubic from seed 1>"


def test_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(ratewire.FileError, match="cannot read"):
        ratewire.Results.load(tmp_path)


def test_the_folder_of_a_sweep_is_told_apart(small: Path, tmp_path: Path) -> None:
    ratewire.sweep(small, {"bottleneck.rate": ["5M"]}, law=["xcp"], folder=tmp_path)
    with pytest.raises(ratewire.FileError, match=r"results of a sweep\n  help: read sweep.parquet"):
        ratewire.Results.load(tmp_path)
