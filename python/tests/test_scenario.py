"""Scenarios from files, text, dictionaries and code, and their errors."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ratewire
from conftest import SMALL, Command
from ratewire import Scenario, _toml

DICTIONARY: dict[str, Any] = {
    "name": "Small",
    "duration": "2 s",
    "law": ["xcp", "cubic"],
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms", "queue": "1 bdp"},
    },
    "flow": [
        {"from": "s*", "to": "d*"},
        {"name": "short", "from": "s1", "to": "d1", "size": "50 KB", "start": "0.5 s"},
    ],
    "expect": [{"metric": "utilisation", "link": "bottleneck", "min": 0.5}],
}


def built() -> Scenario:
    return (
        Scenario.dumbbell(
            name="Small",
            duration="2 s",
            law=["xcp", "cubic"],
            pairs=2,
            rate="10 Mbit/s",
            delay="5 ms",
        )
        .flow("s*", "d*")
        .flow("s1", "d1", name="short", size="50 KB", start="0.5 s")
        .expect("utilisation", link="bottleneck", min=0.5)
    )


def test_all_forms_are_one_experiment(small: Path, results: ratewire.Results) -> None:
    digest = results.summary.experiment.digest
    # A file's text needs no keys in the order of a dictionary; the digest tells experiments apart.
    text = ratewire.run(SMALL)
    assert text.summary.experiment.digest == digest
    assert ratewire.run(Scenario.load(small)).summary.experiment.digest == digest
    runs = results.summary.runs
    assert ratewire.run(DICTIONARY).summary.runs == runs
    assert ratewire.run(built()).summary.runs == runs


def test_a_network_of_ones_own() -> None:
    scenario = (
        Scenario("Two paths", duration="2 s", law="xcp", seed=3)
        .node("near")
        .node("far")
        .node("r", host=False)
        .node("server")
        .link("near", "r", rate="100 Mbit/s", delay="2 ms")
        .link("far", "r", rate="100 Mbit/s", delay="20 ms")
        .link("r", "server", rate="10 Mbit/s", delay="5 ms", name="bottleneck")
        .flow("near", "server", name="short")
        .flow("far", "server", name="long")
    )
    assert scenario.links[-2:] == ["bottleneck", "bottleneck.reverse"]
    assert (scenario.seed, scenario.duration_s, scenario.laws) == (3, 2.0, ["xcp"])
    [run] = ratewire.run(scenario).summary.runs
    assert [flow.name for flow in run.flows] == ["short", "long"]
    assert run.seed == 3


def test_documents_are_toml() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 or later reads TOML")
    document = {
        "name": 'a "name" \\ of\n\u00e9 and \x7f',
        "a b": True,
        "number": np.float64(0.5),
        "count": np.int64(-3),
        "empty": [],
        "topology": {"bottleneck": {"loss": {"random": 1e-6}}, "none": {}},
        "flow": [{"from": "a", "list": [1, 2.5, "c"]}, {"from": "b"}],
    }
    assert tomllib.loads(_toml.text(document)) == document


def test_methods_change_nothing() -> None:
    start = Scenario.dumbbell(duration="1 s", law="xcp", rate="1 Mbit/s", delay="1 ms")
    flow, other = start.flow("s1", "d1"), start.set({"bottleneck.rate": "2 Mbit/s"})
    assert start.text != flow.text
    assert start.text == other.text
    assert '[[flow]]\nfrom = "s1"' in flow.text


def test_values_are_set(small: Path) -> None:
    given = {"bottleneck.rate": "20 Mbit/s", "transport.tail_loss_probe": True, "topology.pairs": 2}
    run = ratewire.run(small, law="xcp", set=given).summary.run("xcp")
    assert next(link for link in run.links if link.name == "bottleneck").rate_bps == 20_000_000
    scenario = Scenario.load(small, set={"duration": "1 s"}).set(seed=7)
    assert (scenario.duration_s, scenario.seed) == (1.0, 7)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ('rate = "10 Mbit/s"', 'bandwith = "10 Mbit/s"'),
        ('rate = "10 Mbit/s"', 'rate = "10 Mbit"'),
        ('"s1"', '"s9"'),
        ("duration", "duration = = "),
    ],
)
def test_errors_are_the_commands(wrong: str, right: str, command: Command, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(SMALL.replace(wrong, right, 1))
    told = command("run", path, "--no-files", "--quiet").stderr
    with pytest.raises(ratewire.ScenarioError) as caught:
        ratewire.run(path)
    assert str(caught.value) == told.strip()


def test_an_error_has_its_place_and_remedy(small: Path) -> None:
    text = SMALL.replace("start =", "strat =")
    with pytest.raises(ratewire.ScenarioError) as caught:
        Scenario.parse(text, name="mine.toml")
    error = caught.value
    assert (error.file, error.line, error.column) == ("mine.toml", 19, 1)
    assert error.nearest == "start"
    assert error.message == "unknown key `strat` in [[flow]] 2"
    assert error.help
    assert error.help.startswith("known: ")
    assert [one.source for one in error.diagnostics] == ['strat = "0.5 s"']
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line) == (str(error), 19)


def test_errors_in_settings_are_the_commands(small: Path, command: Command) -> None:
    told = command("run", small, "--no-files", "--quiet", "--set", "bottleneck.rat=1").stderr
    with pytest.raises(ratewire.ScenarioError) as caught:
        ratewire.run(small, set={"bottleneck.rat": 1})
    assert str(caught.value) == told.strip().replace("--> --set", "--> set")
    with pytest.raises(ratewire.ScenarioError, match='no law or variant is called "xpc"'):
        ratewire.run(small, law="xpc")


def test_errors_of_built_scenarios_are_lines_of_their_text() -> None:
    scenario = built().flow("s1", "d9")
    with pytest.raises(ratewire.ScenarioError) as caught:
        scenario.check()
    line = scenario.text.splitlines()[(caught.value.line or 0) - 1]
    assert "d9" in line


def test_other_mistakes(small: Path) -> None:
    with pytest.raises(ratewire.SettingError, match="further"):
        Scenario.load(small).flow("s1", "d1")
    with pytest.raises(ratewire.SettingError, match="object"):
        ratewire.run({"name": object()})
    with pytest.raises(ratewire.SettingError, match="known: simulate, emulate"):
        ratewire.run(small, world="moon")
    with pytest.raises(ratewire.ScenarioError, match="cannot read the scenario"):
        ratewire.run("nowhere.toml")


def test_warnings_are_warnings() -> None:
    scenario = Scenario.dumbbell(duration="1 s", law="newreno", rate="10 Mbit/s", delay="10 ms")
    scenario = scenario.flow("s1", "d1", size="1 KB").set({"transport.jitter": "0 s"})
    with pytest.warns(ratewire.ScenarioWarning, match="every seed gives the same run") as told:
        ratewire.run(scenario, seed=[1, 2])
    assert told[0].filename == __file__


def test_a_pickled_text_stays_that_text(tmp_path: Path) -> None:
    file = tmp_path / "same.toml"
    file.write_text(SMALL)
    text = SMALL.replace('duration = "2 s"', 'duration = "3 s"')
    scenario = Scenario.parse(text, str(file))
    assert pickle.loads(pickle.dumps(scenario)).duration_s == scenario.duration_s == 3.0


def test_a_scenario_can_be_pickled(small: Path) -> None:
    for scenario in (built().set(seed=5), Scenario.load(small, set={"seed": 5})):
        again = pickle.loads(pickle.dumps(scenario))
        assert (again.text, again.seed) == (scenario.text, 5)


def test_applications_with_random_bursts_and_phases_are_built() -> None:
    on_off = {
        "burst": {"exponential": "500 KB"},
        "pause": {"pareto": {"shape": 1.5, "mean": "1 s"}},
    }
    trickle = {"app": {"constant": {"rate": "100 kbit/s"}}, "lasts": "1 s"}
    link = Scenario.dumbbell(rate="10 Mbit/s", delay="5 ms", duration="3 s", law="newreno")
    built = link.flow("s1", "d1", name="random", app={"on_off": on_off}).flow(
        "s1", "d1", name="phases", app={"phases": [trickle, {"size": "1 MB"}]}
    )
    assert built.check() == []
    runs = ratewire.run(built, seed=[1, 2]).summary.runs
    delivered = [{flow.name: flow.delivered_bytes for flow in run.flows} for run in runs]
    assert delivered[0]["random"] != delivered[1]["random"]
    assert all(run["phases"] > 1_000_000 for run in delivered)
