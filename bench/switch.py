#!/usr/bin/env python3
"""Measures `ratewire-switch` beside nutcracker, HAProxy, quinn and the kernel's TCP.

Usage: bench/switch.py RELEASE [PART...] [--rounds N] [--seconds N] [--base N] [--json FILE [--tables]] [--all]

RELEASE is the folder with `ratewire-switch` and `examples`. All proxies have one core; servers and
load have the other. Proxies take turns in each round (A B C A B C), and figures are medians of the
rounds with their ranges, as tables in Markdown.

frames:    goodput of frames of 16 KiB and frames a second of 64 B: ACP and quinn from end to end,
           ACP through a switch to four members, TCP through HAProxy.
cpu:       processor time of a GET and a SET of redis-benchmark in us, with values of 64 B to
           100 KB, one and 16 at a time; and requests a second.
latency:   times of answers at a rate (examples/open_loop): 50 connections, of which one carries
           half of the load, before Redis and before servers that take a millisecond for a request.
isolation: answers of other servers while one hangs, and of other clients while some read nothing.
kills:     increments that were executed twice or lost while processes are killed and paused; a
           round is a seed.
memory:    memory of a switch by connections and members; with --all 256 members and 1,000
           connections (minutes).
"""
import argparse
import contextlib
import pathlib
import signal

from switch_parts import cpu, frames, isolation, kills, latency, machine, memory, report

PARTS = ["frames", "cpu", "latency", "isolation", "kills", "memory"]
# Seconds of one measurement, unless --seconds says otherwise.
SECONDS = {"cpu": 1, "latency": 5, "isolation": 8, "kills": 12}


def run(part, given, file):
    """One part; each prints its tables."""
    release, seconds = given.release.resolve(), given.seconds or SECONDS.get(part)
    if part == "frames":
        frames.run(release, given.rounds)
    if part == "cpu":
        cpu.run(release, given.rounds, seconds, file)
    if part == "latency":
        latency.run(release, given.rounds, seconds, file, given.base)
    if part == "isolation":
        isolation.run(release, given.rounds, seconds, file)
    if part == "kills":
        kills.run(release, given.rounds, seconds, file)
    if part == "memory":
        memory.run(release, given.all)


def show(part, file):
    """Tables of what `--json` has kept, of one run or of several together."""
    module = {"cpu": cpu, "latency": latency, "isolation": isolation, "kills": kills}.get(part)
    found = report.Report(part)
    found.read(file.read_text().splitlines())
    if module and found.rows:
        print(f"\n## {part}", flush=True)
        module.tell(found)
        found.tell_others()


def arguments():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("release", type=pathlib.Path)
    # `choices` would refuse the empty list.
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all if none is given")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, help="seconds of one measurement")
    parser.add_argument("--base", type=float, help="requests a second of which latency takes 50 and 80 %%")
    parser.add_argument("--json", type=pathlib.Path, help="append each row of each round to a file")
    parser.add_argument("--tables", action="store_true", help="measure nothing: tables of the file of --json")
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    for part in set(given.parts) - set(PARTS):
        parser.error(f"there is no part {part!r}: some of {', '.join(PARTS)}")
    if given.tables and not given.json:
        parser.error("--tables needs --json FILE")
    return given


def main():
    given = arguments()
    # Programs that were started end with this one.
    signal.signal(signal.SIGTERM, lambda *_: exit(1))
    parts = [part for part in PARTS if part in (given.parts or PARTS)]
    if given.tables:
        for part in parts:
            show(part, given.json)
        return
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(given.json.open("a")) if given.json else None
        for part in parts:
            load = machine.Load()
            print(f"\n## {part}", flush=True)
            run(part, given, file)
            print(f"While it ran: {load}", flush=True)


main()
