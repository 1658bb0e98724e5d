#!/usr/bin/env python3
"""Runs the same workloads in Ratewire and in ns-2 and prints packets per CPU second, and the ratio.

Usage: bench/peers.py WORKLOAD_PROGRAM [--runs N]
ns-2 is Debian's package `ns2`; where it is missing its columns stay empty.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

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
}

# What is large, and the plain dumbbells it is measured by: B under the same law, one with as many flows, or one with few.
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


def measure(command):
    """Packets, CPU seconds and peak MiB of one run."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed")
        out.seek(0)
        packets = int(out.read().split("packets ")[1].split()[0])
    return packets, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def in_turn(commands, runs):
    """Packets per CPU second, the median, and peak MiB of each. All run once before any runs again: how fast a
    shared machine is changes from minute to minute, and what is compared is to have the same of it."""
    results = {name: [] for name in commands}
    for turn in range(runs):
        for name, command in commands.items():
            told = f"run {turn + 1} of {runs}: {' '.join(name):60}"
            print(told, end="\r", file=sys.stderr, flush=True)
            results[name].append(measure(command))
    return {
        name: (
            measured[0][0] / statistics.median(seconds for _, seconds, _ in measured),
            max(mebibytes for _, _, mebibytes in measured),
        )
        for name, measured in results.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the built example `workload` of ratewire-sim")
    parser.add_argument("--runs", type=int, default=3, help="runs a figure is the median of")
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    args = parser.parse_args()
    ns2 = shutil.which("ns2") or shutil.which("ns")
    commands = {}
    for name, (law, peer, flows, rate, rtt, queue, stagger, seconds, *more) in WORKLOADS.items():
        if args.only not in name:
            continue
        numbers = [flows, rate, rtt, queue]
        ours = [args.program, law, *map(str, [*numbers, stagger, seconds]), *more]
        commands[name, "ratewire"] = ours
        if ns2 and peer:
            script = [str(HERE / "ns2/dumbbell.tcl"), peer]
            theirs = [ns2, *script, *map(str, [*numbers, stagger / 1000, seconds])]
            commands[name, "ns-2"] = theirs
    results = in_turn(commands, args.runs)
    speeds = {name: speed for (name, who), (speed, _) in results.items() if who == "ratewire"}
    print(f"{'workload':38} {'ratewire':>12} {'MiB':>6} {'ns-2':>12} {'MiB':>6} {'ratio':>6}")
    for name, speed in speeds.items():
        row = f"{name:38} {speed:10,.0f}/s {results[name, 'ratewire'][1]:6.0f}"
        if (name, "ns-2") in results:
            their_speed, their_memory = results[name, "ns-2"]
            row += f" {their_speed:10,.0f}/s {their_memory:6.0f} {speed / their_speed:6.1f}"
        print(row)
    print("packets: data packets delivered, per CPU second; MiB: peak resident memory")
    for name, plain in SCALE.items():
        for other in plain:
            if name in speeds and other in speeds:
                print(f"{name}: {speeds[name] / speeds[other]:.2f} of {other}")


if __name__ == "__main__":
    main()
