#!/usr/bin/env python3
"""Runs workloads in Ratewire, and some in ns-2 too: packets, transmissions and events per CPU second, and memory.

Usage: bench/peers.py WORKLOAD_PROGRAM [--runs N] [--only NAME]
The built example `scenario_workload` of ratewire-scenario is beside the program; without it scenarios are left out.
ns-2 is Debian's package `ns2`; where it is missing its columns stay empty.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import typing

HERE = pathlib.Path(__file__).parent

# Each flow has hosts and links of its own, or with "shared" ten pairs of hosts have all of them.
# name: our law, ns-2's (None where it has none), flows, Mbit/s, RTT ms, queue, stagger ms, seconds
WORKLOADS = {
    "B: 10 XCP, 100 Mbit/s, 80 ms": ("xcp-window", "xcp", 10, 100, 80, 1000, 0, 60),
    "B, paced (the default law)": ("xcp", None, 10, 100, 80, 1000, 0, 60),
    "C: 3 XCP joining, 1 Gbit/s, 50 ms": ("xcp-window", "xcp", 3, 1000, 50, 6250, 10000, 30),
    "X100: 100 XCP, 1 Gbit/s, 50 ms": ("xcp-window", "xcp", 100, 1000, 50, 6250, 10, 20),
    "B with NewReno": ("newreno", "newreno", 10, 100, 80, 1000, 0, 60),
    "T100: 100 NewReno, 1 Gbit/s, 50 ms": ("newreno", "newreno", 100, 1000, 50, 6250, 10, 20),
    "T100 with CUBIC": ("cubic", "cubic", 100, 1000, 50, 6250, 10, 20),
    "T1000: 1,000 NewReno, 10 Gbit/s": ("newreno", "newreno", 1000, 10000, 50, 62500, 1, 5),
    "10 flows at 10 Gbit/s": ("newreno", None, 10, 10000, 50, 62500, 1, 5),
    "1,000 flows of 10 pairs of hosts": ("newreno", None, 1000, 10000, 50, 62500, 1, 5, "shared"),
    "10,000 flows of 10 pairs of hosts": ("newreno", None, 10000, 10000, 50, 62500, 0, 5, "shared"),
    "10,000 flows at 10 Gbit/s": ("newreno", None, 10000, 10000, 50, 62500, 0, 5),
    "10 XCP flows at 10 Gbit/s": ("xcp", None, 10, 10000, 50, 62500, 1, 5),
    "10,000 XCP flows of 10 pairs of hosts": ("xcp", None, 10000, 10000, 50, 62500, 0, 5, "shared"),
    "10,000 XCP flows at 10 Gbit/s": ("xcp", None, 10000, 10000, 50, 62500, 0, 5),
    # 10 Mbit/s for each of many flows, as B, T100 and T1000 have; and few on the same link, to measure them by.
    "10 flows at 100 Gbit/s": ("newreno", None, 10, 100000, 50, 625000, 1, 2),
    "10,000 flows at 100 Gbit/s": ("newreno", None, 10000, 100000, 50, 625000, 0, 2),
    "10,000 flows of 10 pairs, 100 Gbit/s": ("newreno", None, 10000, 100000, 50, 625000, 0, 2, "shared"),
    "100,000 flows at 10 Gbit/s": ("xcp", None, 100000, 10000, 50, 62500, 0, 2),
    "T1000 with XCP: packets take turns": ("xcp", None, 1000, 10000, 50, 62500, 1, 5),
    "T1000 with NoQ: 1,000 paused ports": ("noq", None, 1000, 10000, 50, 62500, 1, 5, "paused"),
    "1,000 groups, 10,000 clients, 50 nodes": ("overlay", None, 10000, 100, 20, 50, 0, 5),
    "An ensemble of 256 members": ("xcp", None, 256, 100, 80, 1000, 0, 60, "ensemble"),
    "B, recording a thousand samples": ("xcp-window", None, 10, 100, 80, 1000, 0, 60, "record"),
    "1,000,000 flows of 10 pairs of hosts": ("newreno", None, 1000000, 10000, 50, 62500, 0, 2, "shared"),
    "1,000,000 flows at 10 Gbit/s": ("newreno", None, 1000000, 10000, 50, 62500, 0, 2),
}

# Scenarios as workloads.
SCENARIOS = {"Fat tree, 128 hosts, WebSearch, DCTCP": "fat-tree.toml"}

# GiB without which a workload is left out.
NEEDED_MEMORY = {"1,000,000 flows of 10 pairs of hosts": 6, "1,000,000 flows at 10 Gbit/s": 12}

# What is large, and the plain dumbbells it is measured by: B under the same law, as many flows, or few.
SCALE = {
    "T1000: 1,000 NewReno, 10 Gbit/s": ["B with NewReno", "10 flows at 10 Gbit/s"],
    "1,000 flows of 10 pairs of hosts": ["10 flows at 10 Gbit/s"],
    "10,000 flows of 10 pairs of hosts": ["10 flows at 10 Gbit/s", "10,000 flows at 10 Gbit/s"],
    "10,000 flows at 10 Gbit/s": ["10 flows at 10 Gbit/s"],
    "10,000 XCP flows of 10 pairs of hosts": ["10 XCP flows at 10 Gbit/s"],
    "10,000 XCP flows at 10 Gbit/s": ["10 XCP flows at 10 Gbit/s"],
    "T1000 with XCP: packets take turns": ["10 XCP flows at 10 Gbit/s"],
    "10,000 flows at 100 Gbit/s": ["10 flows at 100 Gbit/s"],
    "10,000 flows of 10 pairs, 100 Gbit/s": ["10 flows at 100 Gbit/s"],
    "An ensemble of 256 members": ["B, paced (the default law)"],
    "1,000 groups, 10,000 clients, 50 nodes": ["B with NewReno"],
    "T1000 with NoQ: 1,000 paused ports": [
        "B, paced (the default law)",
        "T1000 with XCP: packets take turns",
    ],
}


# Goals of speed and memory: (measure, workload, workload that it is compared with, bound).
GOALS = [
    ("of ns-2", "B with NewReno", None, 6),
    ("of ns-2", "T100: 100 NewReno, 1 Gbit/s, 50 ms", None, 9),
    ("of ns-2", "T1000: 1,000 NewReno, 10 Gbit/s", None, 70),
    ("of ns-2", "B: 10 XCP, 100 Mbit/s, 80 ms", None, 6),
    ("of", "10,000 XCP flows of 10 pairs of hosts", "10 XCP flows at 10 Gbit/s", 0.75),
    ("MiB", "1,000,000 flows of 10 pairs of hosts", None, 8192),
    ("MiB", "1,000,000 flows at 10 Gbit/s", None, 8192),
]


LEGEND = """\
packets/s  data packets delivered, per CPU second
PTS        packet transmissions per CPU second: data and acknowledgements, once for each link that sends them
events     of a run, and of a delivered packet; those of ns-2 are all that were scheduled, cancelled timers too
MiB        peak resident memory
ratio      packets per CPU second over those of ns-2, which does not count transmissions"""


class Run(typing.NamedTuple):
    """What a run has printed, by name, and what it took."""

    counts: dict[str, int]
    seconds: float
    mebibytes: float


class Figures:
    """Figures of equal runs: the median of CPU seconds, and the peak of memory."""

    def __init__(self, runs):
        self.counts = runs[0].counts
        self.seconds = statistics.median(run.seconds for run in runs)
        self.mebibytes = max(run.mebibytes for run in runs)

    def per_second(self, what):
        return self.counts[what] / self.seconds

    @property
    def speed(self):
        """Data packets delivered per CPU second."""
        return self.per_second("packets")

    @property
    def events_a_packet(self):
        return self.counts["events"] / self.counts["packets"]


def measure(command):
    """One run. CPU seconds are those of the process and of what it has started."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed")
        out.seek(0)
        counts = {name: int(count) for name, count in re.findall(r"([a-z]+) (\d+)\b(?!\.)", out.read())}
    return Run(counts, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def in_turn(commands, turns):
    """Figures of each command. All take a turn before any takes another: how fast a shared machine is changes from
    minute to minute, and what is compared is to have the same of it. Short runs vary most: a turn has so many of them
    that they take a second."""
    results = {name: [] for name in commands}
    for turn in range(turns):
        for name, command in commands.items():
            told = f"turn {turn + 1} of {turns}: {' '.join(name):60}"
            print(told, end="\r", file=sys.stderr, flush=True)
            taken = 0
            while taken < 1:
                results[name].append(measure(command))
                taken += results[name][-1].seconds
    return {name: Figures(measured) for name, measured in results.items()}


def available_memory():
    """GiB that programs can take without swapping."""
    text = pathlib.Path("/proc/meminfo").read_text()
    return int(re.search(r"MemAvailable: +(\d+) kB", text)[1]) / 2**20


def make_commands(program, ns2, only):
    """Commands by workload and simulator, of the workloads whose name contains `only`."""
    commands = {}
    for name, (law, peer, flows, rate, rtt, queue, stagger, seconds, *more) in WORKLOADS.items():
        if only not in name:
            continue
        numbers = [flows, rate, rtt, queue]
        commands[name, "ratewire"] = [program, law, *map(str, [*numbers, stagger, seconds]), *more]
        if ns2 and peer:
            script = [str(HERE / "ns2/dumbbell.tcl"), peer]
            commands[name, "ns-2"] = [ns2, *script, *map(str, [*numbers, stagger / 1000, seconds])]
    of_scenarios = pathlib.Path(program).with_name("scenario_workload")
    for name, file in SCENARIOS.items():
        if only not in name:
            continue
        if of_scenarios.exists():
            commands[name, "ratewire"] = [str(of_scenarios), str(HERE / file)]
        else:
            print(f"{name}: left out, {of_scenarios} is not built", file=sys.stderr)
    return commands


def print_table(results):
    ours = {name: figures for (name, who), figures in results.items() if who == "ratewire"}
    print(
        f"{'':38} {'packets/s':>10} {'PTS':>11} {'events':>12} {'a packet':>8} {'MiB':>6}"
        f" {'ns-2':>10} {'a packet':>8} {'MiB':>6} {'ratio':>6}"
    )
    for name, figures in ours.items():
        row = f"{name:38} {figures.speed:10,.0f} {figures.per_second('transmissions'):11,.0f}"
        row += f" {figures.counts['events']:12,} {figures.events_a_packet:8.2f} {figures.mebibytes:6,.0f}"
        if (name, "ns-2") in results:
            peer = results[name, "ns-2"]
            row += f" {peer.speed:10,.0f} {peer.events_a_packet:8.2f} {peer.mebibytes:6,.0f}"
            row += f" {figures.speed / peer.speed:6.1f}"
        print(row)
    print(LEGEND)
    for name, figures in ours.items():
        counts = figures.counts
        if "completed" in counts:
            packets, transmissions = counts["packets"], counts["transmissions"]
            print(
                f"{name}: {counts['completed']:,} of {counts['flows']:,} flows completed, {packets:,} packets,"
                f" {transmissions:,} transmissions, {figures.seconds:.1f} CPU seconds"
            )
    for name, plain in SCALE.items():
        for other in plain:
            if name in ours and other in ours:
                print(f"{name}: {ours[name].speed / ours[other].speed:.2f} of {other}")


def goal(kind, name, other, bound, results):
    """What is measured, its value, and whether it meets the bound; `None` if it was not measured."""
    figures = results.get((name, "ratewire"))
    beside = results.get((name, "ns-2") if kind == "of ns-2" else (other, "ratewire"))
    if figures is None or (beside is None and kind != "MiB"):
        return None
    if kind == "MiB":
        return f"{name}, MiB", f"{figures.mebibytes:,.0f}", f"<= {bound:,}", figures.mebibytes <= bound
    ratio = figures.speed / beside.speed
    return f"{name}, {kind} {other or ''}".rstrip(), f"{ratio:.2f}", f">= {bound}", ratio >= bound


def print_goals(results):
    measured = [goal(*each, results) for each in GOALS]
    if any(measured):
        print(f"\n{'goals':70} {'is':>8} {'goal':>9}")
    for what, value, bound, is_met in filter(None, measured):
        print(f"{what:70} {value:>8} {bound:>9} {'met' if is_met else 'missed'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the built example `workload` of ratewire-sim")
    parser.add_argument("--runs", type=int, default=3, help="turns that each workload takes; times are medians")
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    args = parser.parse_args()
    commands = make_commands(args.program, shutil.which("ns2") or shutil.which("ns"), args.only)
    for name, needed in NEEDED_MEMORY.items():
        if (name, "ratewire") in commands and available_memory() < needed:
            del commands[name, "ratewire"]
            print(f"{name}: left out, it needs {needed} GiB of memory", file=sys.stderr)
    results = in_turn(commands, args.runs)
    print_table(results)
    print_goals(results)


if __name__ == "__main__":
    main()
