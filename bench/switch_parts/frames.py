"""Goodput of frames of 16 KiB and frames a second of 64 B, beside quinn and TCP through HAProxy."""
import re
import statistics
import subprocess

from . import machine, proxies

SIZES = ((16 << 10, 20_000), (64, 300_000))
MEMBERS = 4


def ways(release):
    """Programs that move frames, by what they show."""
    examples = release / "examples"
    return {
        "ACP end to end": lambda size, count: (examples / "throughput", size, count, "cubic"),
        "quinn end to end": lambda size, count: (examples / "throughput_quic", size, count),
        "ACP, switch, 4 members": lambda size, count: (examples / "through_switch", size, count, "cubic", MEMBERS),
    }


def moved(command):
    """Mbit/s, frames a second, and nanoseconds a packet of a switch."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    found = re.search(r"(\d+) Mbit/s, (\d+) frames/s", done.stdout)
    if not found:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    cost = re.search(r"(\d+) ns a packet", done.stdout)
    return int(found[1]), int(found[2]), int(cost[1]) if cost else 0


def through_haproxy(release, size, count):
    """TCP through HAProxy to a server that the program starts."""
    (server,) = machine.ports(1)
    with proxies.Proxy("HAProxy", False, proxies.haproxy).start([server], is_ready=False) as running:
        addresses = (f"127.0.0.1:{server}", f"127.0.0.1:{running.port}")
        return moved((release / "examples/throughput_tcp", size, count, *addresses))


def run(release, rounds):
    found = {}
    for _ in range(rounds):
        for size, count in SIZES:
            for name, way in ways(release).items():
                found.setdefault((name, size), []).append(moved(way(size, count)))
            found.setdefault(("TCP, HAProxy", size), []).append(through_haproxy(release, size, count))
    tell({key: [statistics.median(values) for values in zip(*runs)] for key, runs in found.items()}, rounds)


def tell(medians, rounds):
    print(f"\nframes, median of {rounds}; ratios to quinn's")
    print(f"{'':26}{'16 KiB, Mbit/s':>22}{'64 B, frames/s':>22}{'switch, ns a packet':>24}")
    for name in dict.fromkeys(name for name, _ in medians):
        (large, _, large_ns), (_, small, small_ns) = (medians[name, size] for size, _ in SIZES)
        quinn = [medians["quinn end to end", size][i] for i, (size, _) in enumerate(SIZES)]
        cost = f"{large_ns:14,.0f},{small_ns:8,.0f}" if large_ns else ""
        line = f"{name:26}{large:13,.0f} ({large / quinn[0]:5.2f}){small:14,.0f} ({small / quinn[1]:5.2f})"
        print(line + cost, flush=True)
