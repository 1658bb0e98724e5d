#!/usr/bin/env python3
"""Measures `ratewire-groups` beside the Spread daemon and nats-server.

Usage: bench/groups.py RATEWIRE [throughput] [slow] [many] [--seconds N] [--minutes N]

throughput: messages a second and latency of agreed messages, one and three daemons. The environment's SPREAD names
            the Spread daemon's program, built from its sources; without it, Ratewire is measured alone.
slow:       a subscriber that reads a hundred times slower than the rest, beside nats-server (Debian's package).
many:       10,000 clients and 1,000 groups on 50 daemons, for --minutes (10); memory a client.
"""
import argparse
import contextlib
import json
import os
import pathlib
import resource
import selectors
import shutil
import socket
import statistics
import struct
import subprocess
import tempfile
import threading
import time

SIZES = ("100 B", "1 KB", "10 KB")
ROUNDS = 3
# The Spread daemon ends a client with 1,000 messages waiting.
WINDOW = 200


class Process:
    """A daemon, until the block ends."""

    def __init__(self, *command, folder=None, wait=1.0):
        self.command, self.folder, self.wait = command, folder, wait

    def __enter__(self):
        self.child = subprocess.Popen(self.command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.wait)
        if self.child.poll() is not None:
            raise SystemExit(f"{' '.join(map(str, self.command))} has ended with {self.child.returncode}")
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()

    def peak(self):
        """Largest resident memory, in MB."""
        for line in pathlib.Path(f"/proc/{self.child.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1000

    def resident(self):
        return int(pathlib.Path(f"/proc/{self.child.pid}/statm").read_text().split()[1]) * 4096


def ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    numbers = [server.getsockname()[1] for server in held]
    for server in held:
        server.close()
    return numbers


@contextlib.contextmanager
def ratewire(command, folder, count, links=None):
    """Daemons of Ratewire; gives their clients' ports and processes."""
    numbers = ports(2 * count)
    text = "plaintext = true\n"
    for i in range(count):
        text += f'[[daemon]]\nname = "d{i}"\naddress = "127.0.0.1:{numbers[count + i]}"\n'
        text += f'listen = ["127.0.0.1:{numbers[i]}"]\n'
    for one, other in links or []:
        text += f'[[link]]\nbetween = ["d{one}", "d{other}"]\n'
    text += "[limits]\nconnections-per-second = 10000\n"
    file = folder / "groups.toml"
    file.write_text(text)
    with contextlib.ExitStack() as stack:
        start = [Process(command, "daemon", "--config", file, "--name", f"d{i}", wait=0.05) for i in range(count)]
        processes = [stack.enter_context(process) for process in start]
        time.sleep(1 + count / 10)
        yield numbers[:count], processes


@contextlib.contextmanager
def spread(program, folder, count):
    """Daemons of Spread, each in a segment of its own. A daemon also uses the two ports after its own."""
    first = 4900
    text = ""
    for i in range(count):
        text += f"Spread_Segment 127.0.0.1:{first + 10 * i} {{\n    s{i} 127.0.0.1 {{ 127.0.0.1 }}\n}}\n"
    text += "DangerousMonitor = false\nSocketPortReuse = ON\nRuntimeDir = " + str(folder) + "\nDaemonUser = root\nDaemonGroup = root\n"
    file = folder / "spread.conf"
    file.write_text(text)
    with contextlib.ExitStack() as stack:
        for i in range(count):
            stack.enter_context(Process(program, "-c", file, "-n", f"s{i}", folder=folder, wait=0.2))
        time.sleep(8 if count > 1 else 3)
        yield [f"127.0.0.1:{first + 10 * i}" for i in range(count)]


def flood(command, addresses, *options):
    done = subprocess.run(
        [command, "flood", "--at", ",".join(addresses), "--json", *options], capture_output=True, text=True
    )
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def throughput(command, seconds):
    program = os.environ.get("SPREAD")
    for count in (1, 3):
        print(f"\n{count} daemon{'s' * (count > 1)}, agreed, one sender" + (", a receiver at another daemon" if count > 1 else " to itself"))
        print(f"{'':8}{'Ratewire':>12}{'Spread':>12}{'ratio':>8}   latency at half of the slower one's rate: p50, p99")
        for size in SIZES:
            rates = {}
            options = ["--size", size, "--receivers", "0" if count == 1 else "1", "--window", str(WINDOW)]
            for _ in range(ROUNDS):
                for name, sample in both(command, program, count):
                    with sample as addresses:
                        result = flood(command, addresses, *options, "--time", f"{seconds} s")
                        rates.setdefault(name, []).append(result["delivered"]["messages_per_s"])
            rates = {name: statistics.median(values) for name, values in rates.items()}
            half = str(int(min(rates.values()) / 2))
            latencies = {}
            for name, sample in both(command, program, count):
                with sample as addresses:
                    latencies[name] = flood(command, addresses, *options, "--time", f"{seconds} s", "--rate", half)["latency_us"]
            ours, theirs = rates["Ratewire"], rates.get("Spread")
            line = f"{size:8}{ours:12,.0f}{theirs or float('nan'):12,.0f}{ours / theirs if theirs else float('nan'):8.1f}   "
            line += "; ".join(f"{name} {found['p50']:,.0f} us, {found['p99']:,.0f} us" for name, found in latencies.items())
            print(line, flush=True)


def both(command, program, count):
    folder = pathlib.Path(tempfile.mkdtemp())

    @contextlib.contextmanager
    def ours():
        with ratewire(command, folder, count) as (numbers, _):
            yield [f"127.0.0.1:{number}" for number in numbers]

    yield "Ratewire", ours()
    if program:
        yield "Spread", spread(program, folder, count)
    shutil.rmtree(folder, ignore_errors=True)


class SpreadClient:
    """A client by Spread's protocol."""

    def __init__(self, port, name):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(bytes([5, 0, 1, 0, len(name)]) + name.encode())
        self.exactly(self.exactly(1)[0])
        self.socket.sendall(b"NULL".ljust(90, b"\0"))
        accepted = self.exactly(5)
        if accepted[0] != 1:
            raise SystemExit(f"the daemon refuses {name}: {accepted[0]}")
        self.private = self.exactly(accepted[4])

    def exactly(self, count):
        got = b""
        while len(got) < count:
            more = self.socket.recv(count - len(got))
            if not more:
                raise SystemExit("the daemon has ended the connection")
            got += more
        return got

    def head(self, kind, group, size):
        return struct.pack("<I32sIII32s", 0x80000080 | kind, self.private, 1, 0x80000080, size, group.encode())

    def join(self, group):
        self.socket.sendall(self.head(0x10000, group, 0))

    def message(self, group, data):
        return self.head(0x10, group, len(data)) + data

    @staticmethod
    def length(size, _group):
        return 80 + size


class NatsClient:
    """A client by the protocol of NATS."""

    def __init__(self, port, name):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.recv(4096)
        self.socket.sendall(b'CONNECT {"verbose":false,"pedantic":false}\r\nPING\r\n')
        while b"PONG" not in self.socket.recv(4096):
            pass

    def join(self, group):
        self.socket.sendall(f"SUB {group} 1\r\nPING\r\n".encode())
        while b"PONG" not in self.socket.recv(4096):
            pass

    def message(self, group, data):
        return f"PUB {group} {len(data)}\r\n".encode() + data + b"\r\n"

    @staticmethod
    def length(size, group):
        return len(f"MSG {group} 1 {size}\r\n") + size + 2


SIZE, RATE, SLOWNESS = 1000, 20_000, 100


class Receiver(threading.Thread):
    """Counts a group's messages, and reads at most so many a second."""

    def __init__(self, client, group, pace=None):
        super().__init__(daemon=True)
        self.client, self.pace, self.bytes, self.is_cut_off = client, pace, 0, False
        self.length = client.length(SIZE, group)
        client.join(group)
        self.start()

    def run(self):
        began = time.monotonic()
        while True:
            pace = self.pace
            if pace and self.bytes > pace * self.length * (time.monotonic() - began):
                time.sleep(0.01)
                continue
            try:
                got = len(self.client.socket.recv(1 << 20 if not pace else 10_000))
            except OSError:
                got = 0
            if not got:
                self.is_cut_off = True
                return
            self.bytes += got

    def messages(self):
        return self.bytes // self.length


class Sender(threading.Thread):
    """Sends to a group at a rate, or as fast as the daemon takes it, for some seconds."""

    def __init__(self, client, group, seconds):
        super().__init__(daemon=True)
        self.client, self.batch = client, client.message(group, bytes(SIZE)) * 20
        self.seconds, self.sent = seconds, 0
        self.start()

    def run(self):
        began = time.monotonic()
        while (now := time.monotonic() - began) < self.seconds:
            if self.sent > RATE * now:
                time.sleep(0.001)
                continue
            self.client.socket.sendall(self.batch)
            self.sent += 20


def slow(command, seconds):
    print(f"\nA subscriber {SLOWNESS} times slower than the rest: 4 subscribers, {RATE:,} messages/s of {SIZE} B offered, {seconds} s")
    folder = pathlib.Path(tempfile.mkdtemp())

    @contextlib.contextmanager
    def ours():
        with ratewire(command, folder, 1) as (numbers, processes):
            yield numbers[0], processes[0]

    @contextlib.contextmanager
    def nats():
        (number,) = ports(1)
        with Process("nats-server", "-a", "127.0.0.1", "-p", str(number)) as process:
            yield number, process

    peers = [("Ratewire", SpreadClient, ours)]
    if shutil.which("nats-server"):
        peers.append(("nats-server", NatsClient, nats))
    for name, kind, start in peers:
        alone, _ = one(kind, start, seconds, has_slow=False)
        beside, (cut_off, lost, peak, sent) = one(kind, start, seconds, has_slow=True)
        print(
            f"{name:12} other group: {alone:,.0f} messages/s alone, {beside:,.0f} beside ({100 * (beside / alone - 1):+.1f} %); "
            f"{'cut off' if cut_off else 'nobody cut off'}, {lost:,} lost of {sent:,}; peak memory {peak:.0f} MB",
            flush=True,
        )
    shutil.rmtree(folder, ignore_errors=True)


def one(kind, start, seconds, has_slow):
    with start() as (port, process):
        receivers = [Receiver(kind(port, f"r{i}"), "some") for i in range(3)]
        laggard = Receiver(kind(port, "slow"), "some", RATE / SLOWNESS if has_slow else None)
        other = Receiver(kind(port, "other"), "other")
        time.sleep(0.5)
        senders = [Sender(kind(port, f"s{group}"), group, seconds) for group in ("some", "other")]
        time.sleep(seconds)
        rate = other.messages() / seconds
        # The slow one reads on, so that what was sent can come.
        laggard.pace = None
        before, idle = -1, 0
        while idle < 20:
            idle = idle + 1 if laggard.bytes == before else 0
            before = laggard.bytes
            time.sleep(0.1)
        cut_off = any(receiver.is_cut_off for receiver in [*receivers, laggard, other])
        sent = receivers[0].messages()
        lost = max(sent - laggard.messages(), 0)
        return rate, (cut_off, lost, process.peak(), sent)


def many(command, minutes):
    daemons, clients, groups = 50, 10_000, 1_000
    links = {tuple(sorted((i, (i + step) % daemons))) for i in range(daemons) for step in (1, 7)}
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    folder = pathlib.Path(tempfile.mkdtemp())
    with ratewire(command, folder, daemons, sorted(links)) as (numbers, processes):
        time.sleep(5)
        empty = sum(process.resident() for process in processes)
        connected = []
        for i in range(clients):
            client = SpreadClient(numbers[i % daemons], f"c{i}")
            client.join(f"g{i % groups}")
            connected.append(client)
        time.sleep(10)
        each = (sum(process.resident() for process in processes) - empty) / clients
        print(f"\n{clients:,} clients, {groups:,} groups, {daemons} daemons: {each / 1000:.1f} KB of memory a client", flush=True)
        selector = selectors.DefaultSelector()
        for client in connected:
            client.socket.setblocking(False)
            selector.register(client.socket, selectors.EVENT_READ)
        got = sent = ended = 0
        until = time.monotonic() + 60 * minutes
        step = 0
        while time.monotonic() < until:
            client = connected[step * 7919 % clients]
            try:
                client.socket.send(client.message(f"g{step % groups}", b"x" * 100))
                sent += 1
            except BlockingIOError:
                pass
            step += 1
            for key, _ in selector.select(0.001):
                data = key.fileobj.recv(65536)
                if not data:
                    ended += 1
                    selector.unregister(key.fileobj)
                got += len(data)
        alive = sum(process.child.poll() is None for process in processes)
        print(
            f"after {minutes} minutes: {alive} daemons run, {ended} clients were cut off; {sent:,} messages sent, "
            f"{got // 180:,} delivered (10 members a group)"
        )
    shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("parts", nargs="*", default=["throughput", "slow"])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=10)
    given = parser.parse_args()
    command = str(pathlib.Path(given.program).resolve())
    if "throughput" in given.parts:
        throughput(command, given.seconds)
    if "slow" in given.parts:
        slow(command, given.seconds)
    if "many" in given.parts:
        many(command, given.minutes)


main()
