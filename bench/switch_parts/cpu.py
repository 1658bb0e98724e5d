"""Processor time that a proxy takes for a request of redis-benchmark, and requests a second."""
import contextlib
import subprocess
import time

from . import machine, proxies, report, resp, servers

CONNECTIONS = 50
SIZES = {"64 B": 64, "1 KB": 1_000, "10 KB": 10_000, "100 KB": 100_000}
DEPTHS = (1, 16)
# Values of one size take at most so many bytes in each server.
STORED = 20_000_000
# Seconds for one run of redis-benchmark, and requests of the first one, which finds how many fit.
LONGEST, FIRST = 60, 1_600


def keys(size):
    """How many keys redis-benchmark asks for; all of them exist."""
    return max(200, min(10_000, STORED // size))


def benchmark(port, request, size, depth, count):
    """Requests a second, or what redis-benchmark says against the run."""
    command = ["redis-benchmark", "-p", port, "-t", request.lower(), "-n", count, "-c", CONNECTIONS]
    command += ["-P", depth, "-d", size, "-r", keys(size), "--csv"]
    try:
        done = machine.run_on(machine.OTHERS, command, LONGEST)
    except subprocess.TimeoutExpired:
        return None, f"no end in {LONGEST} s"
    with contextlib.suppress(IndexError, ValueError):
        return float(done.stdout.splitlines()[-1].split(",")[1].strip('"')), None
    return None, (done.stderr or done.stdout).strip()[-200:]


def measure(running, count, **cell):
    """One run: us of processor time a request, requests a second, and how much of the core it took."""
    used, begun = running.group.used(), time.monotonic()
    rate, failed = benchmark(running.port, count=count, **cell)
    took = running.group.used() - used
    if failed:
        return {"us": None, "per_s": None, "core": None, "failed": failed}
    return {"us": took / count, "per_s": rate, "core": took / (time.monotonic() - begun) / 1e6}


def measure_size(found, compared, numbers, rounds, seconds, size):
    """All rounds with values of one size. The first, short one finds how many requests are enough."""
    resp.fill(numbers, [f"key:{k:012}" for k in range(keys(SIZES[size]))], SIZES[size])
    counts = {}
    for turn in range(-1, rounds):
        for request in ("GET", "SET"):
            for depth in DEPTHS:
                for proxy, running in compared:
                    cell = {"request": request, "size": SIZES[size], "depth": depth}
                    place = (proxy.name, request, depth)
                    row = measure(running, counts.get(place, FIRST), **cell)
                    if turn < 0:
                        counts[place] = max(FIRST, int((row["per_s"] or 0) * seconds))
                        continue
                    found.add(request=request, size=size, depth=depth, proxy=proxy.name, round=turn, **row)


def run(release, rounds, seconds, file):
    found = report.Report("cpu", file)
    with servers.redis() as (numbers, _), contextlib.ExitStack() as stack:
        # All run at the same time, so that each round has them within seconds of each other. Those
        # that are not asked take no time.
        compared = [(proxy, stack.enter_context(proxy.start(numbers))) for proxy in proxies.all_of(release)]
        for size in SIZES:
            measure_size(found, compared, numbers, rounds, seconds, size)
    tell(found)
    found.tell_others()


def tell(found):
    names = [name for (name,) in found.different("proxy")]
    print("\nProcessor time of all processes of a proxy, us a request:")
    show(found, names, lambda of: report.spread(found.values("us", **of)))
    print("Requests a second, and how much of the proxies' core they took:")
    show(found, names, lambda of: report.spread(found.values("per_s", **of)) + core(found, of))
    for (text,) in found.different("failed"):
        if text:
            print(f"failed: {text}")


def core(found, of):
    """The share of the core, if a run has ended."""
    shares = [share for share in found.values("core", **of) if share is not None]
    return f", {100 * report.quantile(shares, 0.5):.0f} %" if shares else ""


def show(found, names, cell):
    """A line for each kind of request, and a column for each proxy."""
    lines = []
    for request, size, depth in found.different("request", "size", "depth"):
        of = {"request": request, "size": size, "depth": depth}
        lines.append([f"{request} {size}", f"{depth}", *(cell({**of, "proxy": name}) for name in names)])
    report.table(["request", "-P", *names], lines)
