"""Runs in steps."""

from __future__ import annotations

import os
import re
import signal
import threading
from pathlib import Path
from typing import ClassVar

import pytest

import ratewire
from conftest import SMALL


def files(results: ratewire.Results, folder: Path) -> dict[str, bytes]:
    """The files of results, without the number of events, which steps change."""
    results.save(folder)
    every = (path for path in folder.rglob("*") if path.is_file())
    events = re.compile(
        rb'(?<="events": )\d+|(?<=Events</th><td class="n">)[\d,]+|[\d,]+(?= events)'
    )
    return {str(path.relative_to(folder)): events.sub(b"", path.read_bytes()) for path in every}


def test_steps_give_the_bytes_of_the_run(small: Path, tmp_path: Path) -> None:
    simulation = ratewire.Simulation(small, law="xcp")
    assert simulation.duration_s == 2.0
    while simulation.now_s < 1.5:
        simulation.run_for("35 ms")
        simulation.flow("s1->d1")
        simulation.link("bottleneck")
    stepped = files(simulation.finish(), tmp_path / "stepped")
    whole = files(ratewire.run(small, law="xcp"), tmp_path / "whole")
    assert stepped == whole
    assert len(stepped) >= 5


def test_flows_and_links_are_seen_between_steps(small: Path) -> None:
    simulation = ratewire.Simulation(small, law="cubic", seed=3)
    assert not simulation.flow("short").has_begun
    assert simulation.flow("short").rtt_s is None
    simulation.run_until("0.4 s")
    assert simulation.now_s == 0.4
    flow = simulation.flow("s1->d1")
    assert flow.has_begun
    assert not flow.has_ended
    assert flow.delivered_bytes > 50_000
    assert flow.window_bytes is not None
    assert 0 < flow.in_flight_bytes <= flow.window_bytes
    assert flow.rtt_s is not None
    assert flow.rtt_s > 0.01
    assert flow.why is not None
    assert flow.why.figures
    assert str(flow.why).startswith(flow.why.equation)
    link = simulation.link("bottleneck")
    assert link.sent_bytes > 100_000
    assert 0.1 < link.busy_s <= 0.4
    assert link.queue_packets_max >= link.queue_packets
    assert link.drops == link.dropped_full
    simulation.run_until(1.9)
    simulation.run_until("1 s")  # The past changes nothing.
    assert simulation.now_s == 1.9
    short = simulation.flow("short")
    assert short.has_ended
    assert short.delivered_bytes == 50_000
    assert short.why is None


def test_links_change_between_steps(small: Path) -> None:
    simulation = ratewire.Simulation(small, law="xcp")
    simulation.run_until(0.5)
    simulation.set_link("bottleneck", rate="2 Mbit/s", delay="60 ms")
    before = simulation.link("bottleneck").sent_bytes
    simulation.run_until(1.5)
    assert simulation.link("bottleneck").sent_bytes - before < 1.1 * 2e6 / 8
    assert (simulation.flow("s1->d1").srtt_s or 0) > 0.06
    simulation.set_link("bottleneck", up=False)
    results = simulation.finish()
    assert results.summary.runs[0].links[0].utilisation < 0.9
    assert len(results.flows) > 0


def test_losses_and_queues_change_between_steps(small: Path) -> None:
    simulation = ratewire.Simulation(small, law="newreno")
    simulation.run_until(0.5)
    before = simulation.link("bottleneck")
    simulation.set_link("bottleneck", loss=0.5, queue=0)
    simulation.run_until(1.5)
    after = simulation.link("bottleneck")
    assert before.lost == 0
    assert after.lost > 0.2 * (after.sent_packets - before.sent_packets)
    assert after.queue_packets == 0
    with pytest.raises(ratewire.SettingError, match="no probability"):
        simulation.set_link("bottleneck", loss=2)
    simulation.finish()


def test_mistakes_are_told(small: Path) -> None:
    simulation = ratewire.Simulation(small)
    with pytest.raises(ratewire.SettingError, match="no flow is called"):
        simulation.flow("s9->d9")
    with pytest.raises(ratewire.SettingError, match='did you mean "bottleneck"'):
        simulation.set_link("botleneck", rate="1 Mbit/s")
    with pytest.raises(ratewire.SettingError, match="rate"):
        simulation.set_link("bottleneck", rate="1 second", delay="1 s")
    with pytest.raises(ratewire.SettingError, match="-1 seconds"):
        simulation.run_for(-1)
    with pytest.raises(ratewire.SettingError, match="time"):
        simulation.run_until("soon")
    with pytest.raises(ValueError, match="nothing to set"):
        simulation.set_link("bottleneck")
    with pytest.raises(ratewire.ScenarioError, match="xpc"):
        ratewire.Simulation(small, law="xpc")
    simulation.finish()
    with pytest.raises(ratewire.SettingError, match="has finished"):
        simulation.run_for(1)


def test_ctrl_c_ends_a_step_and_the_simulation_goes_on() -> None:
    long = SMALL.replace('"2 s"', '"3000 s"').replace("10 Mbit", "1000 Mbit")
    simulation = ratewire.Simulation(long, law="cubic")
    pid = os.getpid()
    threading.Timer(0.3, lambda: os.kill(pid, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        simulation.run_until(2999)
    reached = simulation.now_s
    assert 0 < reached < 2999
    simulation.run_for(0.001)
    assert simulation.now_s > reached


class Curious(ratewire.Law):
    """A law that asks the simulation which calls it."""

    name = "curious"
    simulation: ClassVar[ratewire.Simulation | None] = None

    def start(self, flow: ratewire.Flow) -> None:
        self.window = 10.0 * flow.mss

    def on_ack(self, ack: ratewire.Ack) -> None:
        if self.simulation is not None:
            self.simulation.flow("s1->d1")


def test_a_law_cannot_ask_the_simulation_that_calls_it() -> None:
    scenario = ratewire.Scenario.parse(SMALL, law=[Curious]).set({"law": "curious"})
    simulation = ratewire.Simulation(scenario)
    Curious.simulation = simulation
    try:
        # An error ends the simulation: each further step says so again.
        for _ in range(2):
            with pytest.raises(ratewire.RunError, match="cannot ask the simulation that calls it"):
                simulation.run_for("1 s")
    finally:
        Curious.simulation = None


@pytest.mark.parametrize("time", [1e9, float("inf"), 2.5, "1 h"])
def test_a_time_after_the_end_means_the_end(small: Path, time: str | float) -> None:
    simulation = ratewire.Simulation(small, law="xcp")
    simulation.run_until(time)
    assert simulation.now_s == simulation.duration_s
    with pytest.raises(ratewire.SettingError, match="time"):
        simulation.run_until(float("nan"))
