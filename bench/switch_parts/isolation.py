"""What clients of other servers, and other clients of the same server, get of the harm of one."""
import contextlib
import functools
import time

from . import clients, proxies, report, resp, servers

# A server that hangs: 20 clients set values of 100 kB at it, and go on while it is stopped.
WRITERS, SIZE = 20, 100_000
BEFORE, AFTER = 3.0, 1.5
# Clients that ask for 1,000 values of 100 kB and read none, beside two others at each server.
READERS, UNREAD, BESIDE = (1, 10), 1_000, 2


def hung(proxy, seconds):
    """Answers of the three other servers, before one server is stopped and while it is."""
    with servers.redis() as (numbers, processes), proxy.start(numbers) as running:
        (first, _), *others = clients.places(running, proxy.by_key, numbers)
        writers = clients.Background(clients.write, first, WRITERS, SIZE)
        probes = clients.Background(clients.probe, [place for place, _ in others])
        with writers, probes:
            time.sleep(BEFORE)
            stopped = time.monotonic()
            processes[0].pause()
            time.sleep(seconds)
            resumed = time.monotonic()
            processes[0].resume()
            time.sleep(AFTER)
            times, written = probes.finish(), writers.finish()
    rate = sum(answered < stopped for answered in written) * SIZE / BEFORE / 1e6
    # What waits at the stop is harmed by it.
    before = [one for one in times if one[1] + one[2] <= stopped]
    return [
        {"case": "20 clients write, before", "written": rate, **clients.summary(before, stopped - BEFORE, stopped)},
        {"case": "their server hangs", **clients.summary(times, stopped, resumed)},
    ]


def unread(proxy, seconds, count):
    """Answers of other clients while some read nothing."""
    with servers.redis() as (numbers, _), proxy.start(numbers) as running:
        (first, beside), *others = clients.places(running, proxy.by_key, numbers)
        with resp.Client(numbers[0]) as client:
            client.ask("SET", first.key, b"v" * SIZE)
        where = [beside, *(place for place, _ in others)] * BESIDE
        probes = clients.Background(clients.probe, where)
        with probes, contextlib.ExitStack() as stack:
            slow = [stack.enter_context(first.connect()) for _ in range(count)]
            time.sleep(BEFORE)
            begun = time.monotonic()
            for client in slow:
                client.socket.setblocking(False)
                with contextlib.suppress(OSError):
                    client.socket.send(resp.command("GET", first.key) * UNREAD)
            # A client may be given up after its timeout, which is seconds.
            time.sleep(1.5 * seconds)
            peak, end, times = running.group.peak(), time.monotonic(), probes.finish()
    same = clients.summary([one for one in times if one[0] == 0], begun, end)
    other = clients.summary([one for one in times if one[0] != 0], begun, end)
    return [
        {"case": f"{count} read nothing, same server", "peak": peak / 1e6, **same},
        {"case": f"{count} read nothing, other servers", **other},
    ]


def run(release, rounds, seconds, file):
    found = report.Report("isolation", file)
    compared = proxies.all_of(release)
    cases = [hung, *(functools.partial(unread, count=count) for count in READERS)]
    for turn in range(rounds):
        for case in cases:
            for proxy in compared:
                for row in case(proxy, seconds):
                    found.add(proxy=proxy.name, round=turn, **row)
    tell(found)
    found.tell_others()


def tell(found):
    print(
        f"\nProbes ask for a small key, each with {1000 * clients.Probe.PAUSE:.0f} ms between two; "
        f"times in ms. Slow: more than {1000 * clients.SLOW:.0f} ms, or failed.\n"
        f"Those that write and those that do not read have values of {SIZE:,} B."
    )
    heads = {
        "answers": "answers a second",
        "asked": "asked",
        "slow": "slow",
        "failed": "failed",
        "p50": "p50",
        "p99": "p99",
        "max": "longest",
        "written": "written, MB/s",
        "peak": "memory, MB",
    }
    lines = []
    for (case,) in found.different("case"):
        for (name,) in found.different("proxy"):
            values = [found.values(measure, case=case, proxy=name) for measure in heads]
            lines.append([case, name, *("" if set(some) == {None} else report.spread(some) for some in values)])
    report.table(["", "", *heads.values()], lines)
