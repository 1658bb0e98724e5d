"""Laws, seeds, the measured part and figures: spelled as the command spells them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ratewire
from conftest import Command

PART = "0.5s..1.5s"
OVER = {"bottleneck.rate": ["5M", "8M"]}


class FewPackets(ratewire.Law):
    """Keeps four packets in flight."""

    name = "few-packets"

    def start(self, flow: ratewire.Flow) -> None:
        self.window = 4 * flow.mss


@pytest.mark.parametrize("law", ["xcp,cubic", "xcp, cubic", ["xcp", "cubic"], ("xcp", "cubic")])
@pytest.mark.parametrize("seed", ["2..3", "2,3", [2, 3], range(2, 4), np.array([2, 3])])
def test_laws_and_seeds_are_texts_lists_or_ranges(law: Any, seed: Any, small: Path) -> None:
    short = {"duration": "1 s"}
    expected = [("xcp", 2), ("xcp", 3), ("cubic", 2), ("cubic", 3)]
    runs = ratewire.run(small, law=law, seed=seed, set=short).summary.runs
    assert [(run.law, run.seed) for run in runs] == expected
    swept = pl.DataFrame(ratewire.sweep(small, OVER, law=law, seed=seed, set=short).runs)
    assert swept.select("law", "seed").unique(maintain_order=True).rows() == expected
    compared = ratewire.compare(small, law, seed=seed, set=short).content
    assert (compared["laws"], compared["seeds"]) == (["xcp", "cubic"], [2, 3])


def test_one_law_and_one_seed(small: Path) -> None:
    [run] = ratewire.run(small, law="cubic", seed=7).summary.runs
    assert (run.law, run.seed) == ("cubic", 7)
    assert ratewire.compare(small, "cubic", seed=7).content["seeds"] == [7]
    assert ratewire.compare(small, "cubic").content["seeds"] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "call",
    [
        lambda at, **given: ratewire.run(at, **given).summary.runs,
        lambda at, **given: pl.DataFrame(ratewire.sweep(at, OVER, **given).runs).rows(),
    ],
    ids=["run", "sweep"],
)
def test_former_names_are_warned_of(call: Callable[..., Any], small: Path) -> None:
    with pytest.warns(DeprecationWarning, match="laws= is deprecated: write law="):
        of_laws = call(small, laws=["xcp"], seed=2)
    with pytest.warns(DeprecationWarning, match="seeds= is deprecated: write seed=") as told:
        of_seeds = call(small, law="xcp", seeds=[2])
    assert told[0].filename == __file__
    assert call(small, law="xcp", seed=2) == of_laws == of_seeds


def test_the_former_number_of_seeds_is_warned_of(small: Path) -> None:
    with pytest.warns(DeprecationWarning, match='the seeds themselves, such as "1..5"') as told:
        former = ratewire.compare(small, "xcp", seeds=2, set={"seed": 4})
    assert told[0].filename == __file__
    assert former.content["seeds"] == [4, 5]
    with (
        pytest.warns(DeprecationWarning, match="write seed="),
        pytest.raises(ratewire.SettingError, match=r"the number of seeds(.|\n)*help: "),
    ):
        ratewire.compare(small, "xcp", seeds=[1, 2])  # type: ignore[arg-type]


def test_former_names_of_laws_that_a_scenario_knows(small: Path) -> None:
    with pytest.warns(DeprecationWarning, match="write law=") as told:
        former = ratewire.Scenario.load(small, laws=[FewPackets])
    assert told[0].filename == __file__
    named = {"law": "few-packets"}
    known = ratewire.Scenario.load(small, law=FewPackets).set(named)
    assert former.set(named).laws == known.laws == ["few-packets"]
    with pytest.raises(ratewire.SettingError, match="law and laws are given"):
        ratewire.Scenario.parse(small.read_text(), law=[FewPackets], laws=[FewPackets])


def test_a_part_and_figures_are_the_commands(small: Path, command: Command) -> None:
    named = ["queue/bottleneck", "goodput/s1->d1", "fct_p99"]
    asked: dict[str, Any] = {"during": PART, "figures": named, "law": "cubic"}
    words = ["--during", PART, "--figure", ",".join(named), "--law", "cubic"]
    words += ["--no-files", "--json", "-q"]

    def told(*first: str | Path) -> Any:
        done = command(*first, *words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    run = ratewire.run(small, **asked)
    assert json.loads(run._native.json()) == told("run", small)
    compared = ratewire.compare(small, seed="1..2", **asked)
    assert compared.content == told("compare", small, "--seed", "1..2")
    assert compared.content["measured_s"] == [0.5, 1.5]
    swept = ratewire.sweep(small, OVER, **asked)
    assert swept.content == told("sweep", small, "--set", "bottleneck.rate=5M,8M")
    assert [figure["name"] for figure in swept.content["figures"]][:3] == named


def test_figures_by_name_are_in_the_summary(small: Path) -> None:
    listed = ratewire.run(small, figures=["queue/bottleneck", "jain"], law="cubic")
    [run] = listed.summary.runs
    [bottleneck] = [link for link in run.links if link.name == "bottleneck"]
    assert run.figures == {
        "queue/bottleneck": bottleneck.queue_packets_mean,
        "jain": run.jain_index,
    }
    assert run.jain_index is not None
    text = ratewire.run(small, figures="queue/bottleneck,jain", law="cubic")
    assert text.summary == listed.summary
    # The table of laws has these alone.
    headings = str(text).splitlines()[3]
    assert headings.split() == ["law", "queue", "mean", "at", "bottleneck", "Jain’s", "index"]
    assert ratewire.run(small, law="cubic").summary.runs[0].figures == {}


def test_a_part_is_measured(small: Path) -> None:
    run = ratewire.run(small, law="cubic", during=PART).summary.runs[0]
    assert (run.measured_from_s, run.measured_to_s) == (0.5, 1.5)
    whole = ratewire.run(small, law="cubic").summary.runs[0]
    assert whole.links[0].utilisation != run.links[0].utilisation
    later = ratewire.run(small, law="cubic", during="0.5s..").summary.runs[0]
    assert (later.measured_from_s, later.measured_to_s) == (0.5, 2.0)
    keyed = ratewire.run(small, law="cubic", set={"warm_up": "0.5 s"}).summary.runs[0]
    assert keyed == later


def test_workers_measure_the_part_as_this_process_does(small: Path) -> None:
    asked: dict[str, Any] = {"law": "cubic", "during": PART, "figures": "queue/bottleneck"}
    here = ratewire.sweep(small, OVER, **asked)
    with ThreadPoolExecutor(2) as executor:
        there = ratewire.sweep(small, OVER, executor=executor, **asked)
    assert there.content == here.content
    whole = ratewire.sweep(small, OVER, law="cubic", figures="queue/bottleneck")
    assert whole.content["runs"] != here.content["runs"]


def test_a_comparison_has_rows(small: Path) -> None:
    comparison = ratewire.compare(small, "xcp,cubic", seed="3..5", figures="goodput/s1->d1")
    rows, content = comparison.rows, comparison.content
    assert [(row.figure, row.law) for row in rows] == [
        (figure["name"], law) for figure in content["figures"] for law in ("xcp", "cubic")
    ]
    assert {row.about for row in rows[:2]} == {"chosen"}
    for row, figure in zip(rows[::2], content["figures"], strict=True):
        [first, _] = figure["laws"]
        own = dataclasses.asdict(row)
        del own["figure"], own["seeds"]
        own["range"] = None if row.range is None else list(row.range)
        kept = {key: figure[key] for key in ("title", "about", "unit", "better")}
        assert own == {**kept, **first}
    [most] = [one for one in rows if (one.figure, one.law) == ("queue_packets_max", "cubic")]
    known = [value for value in most.values if value is not None]
    assert most.seeds == [3, 4, 5]
    assert len(known) == 3
    assert most.mean == pytest.approx(sum(known) / 3)
    assert (most.unit, most.better, most.margin) == ("packets", "less", None)
    assert most.range in (None, (min(known), max(known)))
    [used] = [one for one in rows if (one.figure, one.law) == ("utilisation", "cubic")]
    assert used.margin is not None
    assert used.margin > 0
    standings = {row.standing for row in rows}
    assert "best" in standings
    assert standings <= {"best", "within_noise", "worse", "unknown", "unranked"}


def test_rows_are_frames(small: Path) -> None:
    rows = ratewire.compare(small, "xcp,cubic", seed="1..2").rows
    frame = pl.DataFrame(rows)
    assert frame.height == len(rows)
    each = frame.explode("seeds", "values").filter(figure="utilisation", law="xcp")
    assert each["seeds"].to_list() == [1, 2]
    means = pd.DataFrame(rows).pivot(index="figure", columns="law", values="mean")
    assert means.loc["utilisation", "xcp"] == rows[0].mean


@pytest.mark.parametrize(
    "call",
    [
        lambda at, **given: ratewire.run(at, **given),
        lambda at, **given: ratewire.compare(at, seed=1, **given),
        lambda at, **given: ratewire.sweep(at, OVER, **given),
    ],
    ids=["run", "compare", "sweep"],
)
def test_wrong_parts_figures_and_laws(
    call: Callable[..., Any], small: Path, command: Command
) -> None:
    with pytest.raises(ratewire.ScenarioError) as part:
        call(small, during="5s..1s")
    assert part.value.message in command("run", small, "--during", "5s..1s").stderr
    with pytest.raises(ratewire.SettingError, match="no figure is called") as figure:
        call(small, figures=["jain", "queu/bottleneck"])
    told = str(figure.value).removeprefix("figures: ")
    assert told in command("run", small, "--figure", "queu/bottleneck").stderr
    with pytest.raises(ratewire.SettingError, match="no link is called") as link:
        call(small, figures="queue/bottelneck")
    assert str(link.value) in command("run", small, "--figure", "queue/bottelneck").stderr
    with pytest.raises(ratewire.ScenarioError, match="no law or variant is called") as law:
        call(small, law="xcp,cubci")
    assert law.value.message in command("run", small, "--law", "cubci").stderr
