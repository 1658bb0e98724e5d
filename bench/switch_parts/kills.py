"""What becomes of increments while processes of a proxy are killed or paused.

Each request increments a counter of its own. A counter above 1 was executed twice; one that was
answered and is missing behind the proxy is lost. An increment without an answer may have been
executed or not, but not twice.
"""
import contextlib
import random
import selectors
import socket
import time

from . import clients, machine, proxies, report, resp, servers

# Connections of the load, and requests that each has without an answer at a time.
CONNECTIONS, DEPTH = 16, 8
# Seconds that a connection waits for an answer before its client connects anew.
PATIENCE = 10
# Seconds, at random: until a process that was killed runs again, a pause, and between two faults.
DOWN, PAUSE, QUIET = (0.05, 0.5), (0.2, 4.0), (0.5, 1.5)
UNKNOWN, DONE, FAILED = 0, 1, 2


class Counter:
    """A connection of the load: what it has asked, and what became of each request."""

    def __init__(self, name, port):
        self.name, self.port = name, port
        self.fates, self.waiting, self.unread = bytearray(), [], b""
        self.socket, self.asked = None, 0.0

    def connect(self, selector):
        with contextlib.suppress(OSError):
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(self.socket, selectors.EVENT_READ, self)

    def disconnect(self, selector):
        """What waits stays unknown."""
        selector.unregister(self.socket)
        self.socket.close()
        self.socket, self.waiting, self.unread = None, [], b""

    def ask(self):
        requests = b""
        for _ in range(DEPTH):
            self.waiting.append(len(self.fates))
            requests += resp.command("INCR", f"c{self.name}:{len(self.fates)}")
            self.fates.append(UNKNOWN)
        self.asked = time.monotonic()
        self.socket.sendall(requests)

    def read(self):
        """False if the connection has ended."""
        data = self.socket.recv(65536)
        *lines, self.unread = (self.unread + data).split(b"\r\n")
        for line in lines:
            self.fates[self.waiting.pop(0)] = FAILED if line.startswith(b"-") else DONE
        return bool(data)


def load(stop, port):
    """Increments until the stop, then waits for what is not answered. Gives the fates of each connection."""
    selector = selectors.DefaultSelector()
    counters = [Counter(i, port) for i in range(CONNECTIONS)]
    while not stop.is_set() or any(counter.waiting for counter in counters):
        for counter in counters:
            with contextlib.suppress(OSError):
                if not counter.socket:
                    counter.connect(selector)
                if counter.socket and not counter.waiting and not stop.is_set():
                    counter.ask()
        for key, _ in selector.select(0.02):
            try:
                if not key.data.read():
                    key.data.disconnect(selector)
            except OSError:
                key.data.disconnect(selector)
        for counter in counters:
            if counter.socket and counter.waiting and time.monotonic() - counter.asked > PATIENCE:
                counter.disconnect(selector)
        time.sleep(0.002)
    return [bytes(counter.fates) for counter in counters]


def faults(running, processes, fault, chance, seconds):
    """Kills or pauses one of the processes at a time, at random. Gives how often."""
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        time.sleep(chance.uniform(*QUIET))
        process, count = chance.choice(processes), count + 1
        if fault == "killed" or fault == "killed or paused" and chance.random() < 0.5:
            process.kill()
            time.sleep(chance.uniform(*DOWN))
            process.start()
        else:
            process.pause()
            time.sleep(chance.uniform(*PAUSE))
            process.resume()
    return count


def counted(port, numbers, fates):
    """What the servers and the proxy say of each increment: doubled, lost and elsewhere."""
    found = {"doubled": 0, "lost": 0, "elsewhere": 0}
    with contextlib.ExitStack() as stack:
        direct = [stack.enter_context(resp.Client(server, timeout=60)) for server in numbers]
        proxy = stack.enter_context(resp.Client(port, timeout=60))
        for name, some in enumerate(fates):
            requests = [("GET", f"c{name}:{i}") for i in range(len(some))]
            columns = zip(some, proxy.ask_all(requests), *(client.ask_all(requests) for client in direct))
            for fate, behind, *values in columns:
                executed = sum(int(value) for value in values if value)
                is_lost = fate == DONE and not (behind and behind.isdigit())
                found["doubled"] += executed > 1
                found["lost"] += is_lost
                # It was executed, but not at the server that the proxy now asks.
                found["elsewhere"] += is_lost and executed > 0
    return found


def measure(proxy, kinds, fault, seed, seconds):
    """One run with its own servers."""
    with servers.redis() as (numbers, redis), proxy.start(numbers) as running:
        running.processes["server"] = redis
        processes = [process for kind in kinds for process in running.processes[kind]]
        with clients.Background(load, running.port) as background:
            time.sleep(1)
            count = faults(running, processes, fault, random.Random(seed), seconds)
            time.sleep(2)
            fates = background.finish(seconds=60)
        resp.until_answered(running.port)
        requests = sum(map(len, fates))
        failed = requests - sum(some.count(DONE) for some in fates)
        return {"faults": count, "requests": requests, "failed": failed, **counted(running.port, numbers, fates)}


def cases(compared):
    """Each kind of process, killed and paused. A server that is killed would lose its memory."""
    ratewire, nutcracker, _ = compared
    for kind in ("switch", "member", "gateway", "server"):
        for fault in ("killed", "paused"):
            if (kind, fault) != ("server", "killed"):
                yield ratewire, [kind], fault
    yield ratewire, ["switch", "member", "gateway"], "killed or paused"
    yield nutcracker, ["nutcracker"], "killed"
    yield nutcracker, ["nutcracker"], "paused"
    yield nutcracker, ["server"], "paused"


def run(release, rounds, seconds, file):
    found = report.Report("kills", file)
    for seed in range(rounds):
        for proxy, kinds, fault in cases(proxies.all_of(release)):
            row = measure(proxy, kinds, fault, seed, seconds)
            found.add(proxy=proxy.name, case=f"{', '.join(kinds)} {fault}", round=seed, **row)
    tell(found)
    found.tell_others()


def tell(found):
    print(
        f"\nIncrements of {CONNECTIONS} clients, {DEPTH} at a time each, while a process is killed "
        f"(kill -9, started again\nafter {DOWN[0]} to {DOWN[1]} s) or paused ({PAUSE[0]} to {PAUSE[1]} s). "
        f"Sums of all seeds, with the range of one:"
    )
    measures = ["faults", "requests", "doubled", "lost", "elsewhere", "failed"]
    lines = []
    for name, case in found.different("proxy", "case"):
        cells = []
        for measure in measures:
            values = found.values(measure, proxy=name, case=case)
            span = f" ({min(values):,} to {max(values):,})" if min(values) != max(values) else ""
            cells.append(f"{sum(values):,}{span}")
        lines.append([name, case, *cells])
    report.table(["", "", *measures[:4], "of these elsewhere", "failed"], lines)
