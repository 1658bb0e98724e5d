#!/usr/bin/env python3
"""Counts the instructions that a delivered packet costs, by valgrind's callgrind.

Usage: bench/instructions.py WORKLOAD_PROGRAM [--only NAME]
A figure is the difference of two runs of unequal length, so that their start does not count. Without valgrind (Debian's
package `valgrind`) nothing is measured.
"""
import argparse
import re
import shutil
import subprocess

# name: arguments of `workload` without the last, two durations in seconds, most instructions as a goal
WORKLOADS = {
    "10 NewReno, 100 Mbit/s, 80 ms": ("newreno 10 100 80 1000 0", (6, 12), 2200),
    "10 XCP, 100 Mbit/s, 80 ms": ("xcp 10 100 80 1000 0", (6, 12), None),
    "1,000 NewReno, 10 Gbit/s, 50 ms": ("newreno 1000 10000 50 62500 1", (1, 2), None),
}


def count(program, arguments, seconds):
    """Instructions and delivered packets of one run."""
    command = [program, *arguments.split(), str(seconds)]
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*tool, *command], capture_output=True, text=True)
    instructions = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not instructions:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return int(instructions[1]), int(re.search(r"packets (\d+)", done.stdout)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the built example `workload` of ratewire-sim")
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions are not counted: valgrind is not installed")
        return
    print(f"{'instructions a delivered packet':38} {'seconds':>9} {'packets':>11} {'is':>7} {'goal':>8}")
    for name, (arguments, durations, bound) in WORKLOADS.items():
        if args.only not in name:
            continue
        (early, before), (late, after) = (count(args.program, arguments, seconds) for seconds in durations)
        each = (late - early) / (after - before)
        seconds = "{} to {}".format(*durations)
        row = f"{name:38} {seconds:>9} {after - before:11,} {each:7,.0f}"
        if bound:
            row += f" {f'<= {bound:,}':>8} {'met' if each <= bound else 'missed'}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
