"""Times of answers from the moment at which requests are due, at a rate that does not wait for answers."""
import json
import statistics

from . import cpu, machine, proxies, report, resp, servers

# Share of what the limit can: of the slowest proxy in front of Redis, of the servers if they are slow.
LOADS = (0.5, 0.8)
# Keys of the open loop, which it sets through the proxy; those that choose no server by key need all.
KEYS, SIZE = 10_000, 64


def open_loop(release, port, rate, seconds):
    """Percentiles in us, of 50 connections of which one carries half of the load."""
    command = [release / "examples/open_loop", f"127.0.0.1:{port}", rate, seconds]
    done = machine.run_on(machine.OTHERS, command, 120)
    if not done.stdout:
        raise SystemExit(done.stderr)
    found = json.loads(done.stdout)
    row = {"per_s": found["per_s"], "failed": found["failed"], "unanswered": found["unanswered"]}
    for who in ("all", "heavy", "others"):
        for name, value in found[f"{who}_us"].items():
            row[f"{who}_{name}"] = value
    return row


def capacity(compared):
    """Requests a second of the slowest proxy in front of Redis, with one request a connection at a time."""
    rates = []
    with servers.redis() as (numbers, _):
        resp.fill(numbers, [f"key:{k:012}" for k in range(cpu.keys(SIZE))], SIZE)
        for proxy in compared:
            with proxy.start(numbers) as running:
                runs = [cpu.benchmark(running.port, "GET", SIZE, 1, 20_000)[0] for _ in range(3)]
                rates.append(statistics.median(runs))
    return min(rates)


def busiest(numbers):
    """The share of the requests that the busiest of the slow servers has got."""
    counts = []
    for port in numbers:
        with resp.Client(port) as client:
            counts.append(int(client.ask("COUNT")[1:]))
    return max(counts) / sum(counts)


def measure(release, proxy, kind, rate, seconds):
    """One run with its own servers, as one that is too much for a proxy leaves requests behind."""
    start = servers.slow if kind == "slow" else servers.redis
    with start() as (numbers, _), proxy.start(numbers) as running:
        if kind == "Redis":
            resp.fill(numbers, [f"k{k:07}" for k in range(KEYS)], SIZE)
        row = open_loop(release, running.port, rate, seconds)
        return {**row, "busiest": busiest(numbers) if kind == "slow" else None}


def run(release, rounds, seconds, file, base):
    found = report.Report("latency", file)
    compared = proxies.all_of(release)
    compared.insert(2, proxies.even_nutcracker())
    limits = {"slow": servers.SERVERS / servers.SERVICE, "Redis": base or capacity(compared)}
    for turn in range(rounds):
        for kind, limit in limits.items():
            for load in LOADS:
                for proxy in compared:
                    rate = round(limit * load)
                    row = measure(release, proxy, kind, rate, seconds)
                    cell = {"kind": kind, "limit": limit, "load": load, "rate": rate}
                    found.add(**cell, proxy=proxy.name, round=turn, **row)
    tell(found)
    found.tell_others()


def tell(found):
    limits = dict(found.different("kind", "limit"))
    print(
        f"\nTimes of answers in ms. slow: four servers that take {1000 * servers.SERVICE:.0f} ms a request "
        f"and are the limit, {limits['slow']:,.0f} a second.\nRedis: the slowest proxy is the limit, "
        f"{limits['Redis']:,.0f} a second (--base {limits['Redis']:.0f} repeats these rates)."
    )
    times = ["all_p50", "all_p99", "heavy_p99", "others_p99"]
    lines = []
    for kind, load, rate, name in found.different("kind", "load", "rate", "proxy"):
        of = {"kind": kind, "load": load, "proxy": name}
        cells = [report.spread([us / 1000 for us in found.values(one, **of)]) for one in times]
        bad = [report.spread(found.values(one, **of)) for one in ("failed", "unanswered")]
        shares = found.values("busiest", **of)
        share = report.spread([100 * one for one in shares]) if None not in shares else ""
        lines.append([f"{kind}, {100 * load:.0f} %: {rate:,} a second", name, *cells, *bad, share])
    heads = ["p50", "p99", "p99 of the heavy one", "p99 of others", "failed", "unanswered", "busiest server, %"]
    report.table(["", "", *heads], lines)
