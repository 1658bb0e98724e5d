#!/usr/bin/env python3
"""Measures `ratewire-switch` beside quinn, the kernel's TCP, HAProxy and nutcracker.

Usage: bench/switch.py RELEASE [frames] [redis] [slow] [memory] [--seconds N] [--rounds N] [--all]

RELEASE is the folder with `ratewire-switch` and `examples`.

frames: goodput of frames of 16 KiB and frames a second of 64 B: ACP and quinn from end to end, ACP through a switch to four
        members, TCP through HAProxy.
redis:  four Redis servers. All proxies have one core, servers and load the other. Requests a second of redis-benchmark, and
        times of answers at a rate (open_loop): 50 connections, of which one carries half of the load.
slow:   the same with four servers that take a millisecond for a request, so that servers are the limit.
memory: memory of a switch by connections and members; with --all 256 members and 1,000 connections (minutes).
"""
import argparse
import contextlib
import json
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PARTS = ["frames", "redis", "slow", "memory"]
PROXIES, OTHERS = "0", "1"
SIZES = ((16 << 10, 20_000), (64, 300_000))
MEMBERS = 4
SERVICE = 0.001
HAPROXY = """
global
    nbthread 1
    maxconn 4000
defaults
    mode tcp
    timeout connect 5s
    timeout client 60s
    timeout server 60s
listen one
    bind 127.0.0.1:{port}
    balance roundrobin
"""
NUTCRACKER = """
one:
  listen: 127.0.0.1:{port}
  hash: fnv1a_64
  distribution: ketama
  redis: true
  servers:
"""


class Process:
    """A program, on a core, until the block ends."""

    def __init__(self, *command, core=None, folder=None):
        pinned = ("taskset", "-c", core) if core else ()
        self.command, self.folder = [str(part) for part in (*pinned, *command)], folder

    def __enter__(self):
        quiet = subprocess.DEVNULL
        self.child = subprocess.Popen(self.command, cwd=self.folder, stdin=quiet, stdout=quiet, stderr=quiet)
        time.sleep(0.3)
        if self.child.poll() is not None:
            raise SystemExit(f"{' '.join(self.command)} has ended with {self.child.returncode}")
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()

    def resident(self):
        """Memory in bytes."""
        return int(pathlib.Path(f"/proc/{self.child.pid}/statm").read_text().split()[1]) * 4096


def ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    numbers = [server.getsockname()[1] for server in held]
    for server in held:
        server.close()
    return numbers


def listens(port):
    """Waits until a server takes connections."""
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens at port {port}")


def switch_file(folder, command, listen, addresses, routing):
    if not (folder / "key").exists():
        subprocess.run([command, "key", "key"], cwd=folder, check=True, capture_output=True)
    text = f'key = "key"\nlisten = "127.0.0.1:{listen}"\nrouting = "{routing}"\n'
    for i, address in enumerate(addresses):
        text += f'[[member]]\nname = "m{i}"\naddress = "{address}"\n'
    (folder / "switch.toml").write_text(text)


@contextlib.contextmanager
def haproxy(folder, servers):
    (port,) = ports(1)
    text = HAPROXY.format(port=port) + "".join(f"    server s{n} 127.0.0.1:{n}\n" for n in servers)
    (folder / "haproxy.cfg").write_text(text)
    with Process("haproxy", "-f", folder / "haproxy.cfg", core=PROXIES):
        listens(port)
        yield port


@contextlib.contextmanager
def nutcracker(folder, servers):
    port, statistics_port = ports(2)
    text = NUTCRACKER.format(port=port) + "".join(f"  - 127.0.0.1:{n}:1\n" for n in servers)
    (folder / "nutcracker.yml").write_text(text)
    with Process("nutcracker", "-c", folder / "nutcracker.yml", "-s", statistics_port, core=PROXIES):
        listens(port)
        yield port


@contextlib.contextmanager
def ratewire(command, folder, servers):
    port, listen, *members = ports(2 + len(servers))
    switch_file(folder, command, listen, [f"127.0.0.1:{n}" for n in members], "hash")
    common = ("--framing", "resp", "--key", "key")
    with contextlib.ExitStack() as stack:
        start = lambda *args: stack.enter_context(Process(command, *args, core=PROXIES, folder=folder))
        for member, server in zip(members, servers):
            start("member", *common, "--listen", f"127.0.0.1:{member}", "--server", f"127.0.0.1:{server}")
        start("run")
        start("gateway", *common, "--listen", f"127.0.0.1:{port}", "--switch", f"127.0.0.1:{listen}")
        listens(port)
        time.sleep(0.7)
        yield port


def frames(release, folder, rounds):
    """Goodput and frames a second, median of rounds in turn."""
    examples = release / "examples"

    ways = {
        "ACP end to end": lambda size, count: (examples / "throughput", size, count, "cubic"),
        "quinn end to end": lambda size, count: (examples / "throughput_quic", size, count),
        "ACP, switch, 4 members": lambda size, count: (examples / "through_switch", size, count, "cubic", MEMBERS),
    }
    found = {}
    for _ in range(rounds):
        for size, count in SIZES:
            for name, way in ways.items():
                found.setdefault((name, size), []).append(moved(way(size, count)))
            (server,) = ports(1)
            with haproxy(folder, [server]) as port:
                way = (examples / "throughput_tcp", size, count, f"127.0.0.1:{server}", f"127.0.0.1:{port}")
                found.setdefault(("TCP, HAProxy", size), []).append(moved(way))
    print(f"\nframes, median of {rounds}; ratios to quinn's\n{'':26}{'16 KiB, Mbit/s':>22}{'64 B, frames/s':>22}{'switch, ns a packet':>24}")
    medians = {key: [statistics.median(values) for values in zip(*runs)] for key, runs in found.items()}
    for name in [*ways, "TCP, HAProxy"]:
        (large, _, large_ns), (_, small, small_ns) = (medians[name, size] for size, _ in SIZES)
        quinn = [medians["quinn end to end", size][i] for i, (size, _) in enumerate(SIZES)]
        cost = f"{large_ns:14,.0f},{small_ns:8,.0f}" if large_ns else ""
        print(f"{name:26}{large:13,.0f} ({large / quinn[0]:5.2f}){small:14,.0f} ({small / quinn[1]:5.2f}){cost}", flush=True)


def moved(command):
    """Mbit/s, frames a second, and nanoseconds a packet of a switch."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    found = re.search(r"(\d+) Mbit/s, (\d+) frames/s", done.stdout)
    if not found:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    cost = re.search(r"(\d+) ns a packet", done.stdout)
    return int(found[1]), int(found[2]), int(cost[1]) if cost else 0


@contextlib.contextmanager
def redis_servers():
    numbers = ports(MEMBERS)
    with contextlib.ExitStack() as stack:
        for number in numbers:
            options = ("--port", number, "--save", "", "--bind", "127.0.0.1")
            stack.enter_context(Process("redis-server", *options, core=OTHERS))
            listens(number)
        yield numbers


@contextlib.contextmanager
def slow_servers():
    numbers = ports(MEMBERS)
    with contextlib.ExitStack() as stack:
        for number in numbers:
            stack.enter_context(Process(sys.executable, pathlib.Path(__file__).with_name("slow_redis.py"), number, SERVICE))
            listens(number)
        yield numbers


def proxies(command, folder):
    yield "Ratewire", lambda servers: ratewire(command, folder, servers)
    yield "HAProxy", lambda servers: haproxy(folder, servers)
    yield "nutcracker", lambda servers: nutcracker(folder, servers)


def benchmark(port, count, pipeline):
    """Requests a second of redis-benchmark."""
    options = ("-p", port, "-t", "get", "-n", count, "-c", 50, "-P", pipeline, "-r", 10_000, "--csv")
    command = ["taskset", "-c", OTHERS, "redis-benchmark", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return float(done.stdout.splitlines()[-1].split(",")[1].strip('"'))


def open_loop(release, port, rate, seconds):
    command = ["taskset", "-c", OTHERS, release / "examples/open_loop", f"127.0.0.1:{port}", rate, seconds]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def redis(release, folder, seconds):
    command = release / "ratewire-switch"
    print("\nfour Redis servers, one core for the proxies: requests a second of redis-benchmark, GET, 50 connections")
    print(f"{'':12}{'-P 16':>12}{'-P 1':>12}")
    rates = {}
    for name, start in proxies(command, folder):
        with redis_servers() as servers, start(servers) as port:
            benchmark(port, 10_000, 16)
            rates[name] = benchmark(port, 150_000, 16), benchmark(port, 50_000, 1)
        print(f"{name:12}{rates[name][0]:12,.0f}{rates[name][1]:12,.0f}", flush=True)
    base = min(single for _, single in rates.values())
    for load in (50, 80):
        print(f"\n{load} % of {base:,.0f} requests a second, one connection with half of them")
        for name, start in proxies(command, folder):
            with redis_servers() as servers, start(servers) as port:
                tell(name, open_loop(release, port, round(base * load / 100), seconds))


def slow(release, folder, seconds):
    with slow_servers() as servers:
        base = MEMBERS * benchmark(servers[0], 2000, 16)
    for load in (50, 80):
        rate = round(base * load / 100)
        print(f"\nfour servers of {SERVICE * 1000:.0f} ms a request: {load} % of the {base:,.0f} a second that they can, one connection with half")
        for name, start in proxies(release / "ratewire-switch", folder):
            with slow_servers() as servers, start(servers) as port:
                tell(name, open_loop(release, port, rate, seconds))


def tell(name, found):
    line = f"{name:12}{found['per_s']:10,} a second"
    for who in ("all", "heavy", "others"):
        times = found[f"{who}_us"]
        line += f"; {who} {times['p50']:,}, {times['p99']:,}, {times['p999']:,}"
    print(f"{line} us (p50, p99, p99.9); {found['failed']} failed, {found['unanswered']} unanswered", flush=True)


def memory(release, folder, has_all):
    print(f"\nmemory of a switch\n{'members':>10}{'connections':>14}{'MB':>10}{'KB a connection':>18}{'KB a member of one':>21}")
    for members, peers in [(1, 100), (1, 1000), (16, 1000), (256, 100)] + [(256, 1000)] * has_all:
        (listen,) = ports(1)
        switch_file(folder, release / "ratewire-switch", listen, [], "round-robin")
        command = [release / "examples/many", folder / "key", f"127.0.0.1:{listen}", members, peers]
        pipe = subprocess.PIPE
        many = subprocess.Popen([str(part) for part in command], stdin=pipe, stdout=pipe, text=True)
        addresses = [many.stdout.readline().strip() for _ in range(members + 1)][:members]
        switch_file(folder, release / "ratewire-switch", listen, addresses, "round-robin")
        with Process(release / "ratewire-switch", "run", folder=folder) as process:
            empty = process.resident()
            many.stdin.write("\n")
            many.stdin.flush()
            if many.stdout.readline().strip() != "ready":
                raise SystemExit("the peers have failed")
            each = (process.resident() - empty) / peers
            print(f"{members:10}{peers:14,}{process.resident() / 1e6:10.1f}{each / 1000:18.1f}{each / members / 1000:21.2f}", flush=True)
            many.communicate("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=pathlib.Path)
    # `choices` would refuse the empty list.
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all if none is given")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    release, parts = given.release.resolve(), given.parts or PARTS
    for part in set(parts) - set(PARTS):
        parser.error(f"there is no part {part!r}: some of {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if "frames" in parts:
            frames(release, folder, given.rounds)
        if "redis" in parts:
            redis(release, folder, given.seconds)
        if "slow" in parts:
            slow(release, folder, given.seconds)
        if "memory" in parts:
            memory(release, folder, given.all)


main()
