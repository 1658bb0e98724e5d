"""TCPs of the simulator beside those of this machine's kernel, at random points.

Usage: parity.py RATEWIRE RESULTS [--points N] [--table | --again]. Needs root, but for the last two.

A point is a dumbbell drawn from a number: rate, round trip, buffer, discipline, losses, flows and
law. It is simulated with ten seeds and emulated once, in a few seconds of real time, and twice more
if a figure is not met: the median of Linux's runs within the range of the seeds, or within 5 % of
its nearer end. Of a figure that varies, one run in six lies beyond ten others by chance alone: the
table says how many seeds lie within the range of the other nine. Points whose run had late packets
or hosts are tried again. RESULTS has a line for each point, and a run that was stopped goes on
where it was; --table prints what it has for docs/explain/fidelity.md, and --again simulates its
points again, after a change of the simulator.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

SEEDS = 10
RUNS = 3
TRIALS = 3
WITHIN = 0.05
SECONDS = 12
LAWS = {"newreno": "reno", "cubic": "cubic", "bbr1": "bbr"}
DISCIPLINES = ["drop-tail", "codel", "fq-codel", "pie"]

SCENARIO = """
name     = "{name}"
duration = "{seconds} s"
law      = "{law}"

[topology]
kind       = "dumbbell"
pairs      = {flows}
rtt        = "{rtt_ms} ms"
bottleneck = {{ rate = "{rate_mbps} Mbit/s", delay = "{delay_ms} ms"{room}{loss} }}
access     = {{ rate = "1 Gbit/s" }}

# As Linux: time stamps, and acknowledgements of two packets or after 40 ms.
[transport]
headers     = "52 B"
ack         = "52 B"
delayed_ack = "40 ms"
ecn         = {ecn}
"""

FLOW = """
[[flow]]
from  = "s{n}"
to    = "d{n}"
start = "{start} s"
"""


def drawn(number):
    """The point of a number."""
    chance = random.Random(number)

    def between(low, high):
        return low * (high / low) ** chance.random()

    point = {
        "law": chance.choice(list(LAWS)),
        "rate_mbps": round(between(5, 100), 1),
        "rtt_ms": round(between(5, 200), 1),
        "buffer_bdp": round(between(0.25, 4), 2),
        "discipline": chance.choice(DISCIPLINES),
        "loss_percent": round(between(0.05, 3), 2) if chance.random() < 0.5 else 0,
    }
    starts = [round(chance.uniform(0, 1), 3) for _ in range(chance.randint(1, 8))]
    is_bulk = chance.random() < 0.5
    sizes = [None if is_bulk else round(between(1, 3000)) for _ in starts]
    return point | {"flows": [list(flow) for flow in zip(starts, sizes)]}


def written(number, point):
    """The scenario of a point."""
    # A buffer of less than 8 packets is one that no router has.
    bdp = point["rate_mbps"] * 1e6 / 8 * point["rtt_ms"] / 1e3 / 1500
    packets = max(8, round(point["buffer_bdp"] * bdp))
    own = point["discipline"]
    options = {"fq-codel": f"limit = {packets}", "pie": "ecn = true"}.get(own, "")
    room = "" if own == "fq-codel" else f', queue = "{packets} packets"'
    room += f", discipline = {{ {own} = {{ {options} }} }}"
    loss = point["loss_percent"]
    text = SCENARIO.format(
        name=f"parity {number}",
        seconds=SECONDS,
        law=point["law"],
        flows=len(point["flows"]),
        rtt_ms=point["rtt_ms"],
        rate_mbps=point["rate_mbps"],
        delay_ms=round(point["rtt_ms"] / 5, 3),
        room=room,
        loss=f", loss = {{ random = {loss / 100:.4f} }}" if loss else "",
        ecn=str(own == "pie").lower(),
    )
    for n, (start, size) in enumerate(point["flows"], 1):
        text += FLOW.format(n=n, start=start) + (f'size  = "{size} packets"\n' if size else "")
    return text


def run(ratewire, path, *arguments):
    command = [ratewire, "run", str(path), "--json", "--no-files", "--quiet", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 6):
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)["runs"][0]


def figures(result):
    """Figures of a run that are compared."""
    flows = result["flows"]
    bottleneck = next(link for link in result["links"] if link["bottleneck"])
    found = {
        "sent again": sum(flow["retransmitted_packets"] for flow in flows),
        "mean queue": bottleneck["queue_packets_mean"],
        "largest queue": bottleneck["queue_packets_max"],
        "mean RTT": statistics.fmean(flow["rtt_mean_s"] or 0 for flow in flows),
    }
    if flows[0]["size_bytes"] is None:
        return found | {"goodput": sum(flow["goodput_bps"] for flow in flows)}
    # A transfer that has not ended has taken the whole run.
    took = sorted(flow["completion_s"] or SECONDS for flow in flows)
    return found | {"median completion": statistics.median(took), "longest completion": took[-1]}


def on_linux(ratewire, path):
    """Figures of an emulated run; None if no trial held."""
    for _ in range(TRIALS):
        emulated = run(ratewire, path, "--world", "emulate")
        if emulated["fidelity"]["times_hold"]:
            return figures(emulated)
    return None


def measured(ratewire, result):
    """A point with what it lacks: figures of each seed, and of Linux, as long as trials hold."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "point.toml"
        path.write_text(written(result["number"], result["point"]))
        if "seeds" not in result:
            result = result | {"seeds": simulated(ratewire, path)}
        while is_short(result):
            linux = on_linux(ratewire, path)
            if linux is None:
                return result
            result = result | {"linux": result["linux"] + [linux]}
    return result


def is_short(result):
    """Whether Linux is to run once more: three times if the first run misses a figure."""
    runs = len(result["linux"])
    if runs == 0:
        return True
    if runs == 1:
        return not all(is_met for *_, is_met in compared(result))
    return runs < RUNS


def simulated(ratewire, path):
    seeds = range(1, SEEDS + 1)
    return [figures(run(ratewire, path, "--seed", str(seed))) for seed in seeds]


def simulate_again(ratewire, result):
    """The same point with what the simulator has for it now; Linux's figures stay."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "point.toml"
        path.write_text(written(result["number"], result["point"]))
        return result | {"seeds": simulated(ratewire, path)}


def is_within(value, others):
    return min(others) * (1 - WITHIN) <= value <= max(others) * (1 + WITHIN)


def compared(result):
    """For each figure: Linux's, least and greatest of the seeds, and whether it is met."""
    for name in result["linux"][0]:
        linux = statistics.median(run[name] for run in result["linux"])
        all_seeds = [seed[name] for seed in result["seeds"]]
        yield name, linux, min(all_seeds), max(all_seeds), is_within(linux, all_seeds)


def own_share(results, name):
    """Share of the seeds whose figure is within the range of the other seeds of their point."""
    is_met = []
    for result in results:
        all_seeds = [seed[name] for seed in result["seeds"] if name in seed]
        for n, one in enumerate(all_seeds):
            is_met.append(is_within(one, all_seeds[:n] + all_seeds[n + 1 :]))
    return statistics.fmean(is_met)


def table(results):
    by_figure = {}
    for result in results:
        for name, linux, low, high, is_met in compared(result):
            by_figure.setdefault((name, result["point"]["law"]), []).append(
                (result, linux, low, high, is_met)
            )
    names = list(dict.fromkeys(name for name, _ in by_figure))
    print("| figure | " + " | ".join(f"`{law}`" for law in LAWS) + " | all | a seed among others |")
    print("|---|" + "---|" * (len(LAWS) + 2))
    for name in names:
        cells = [[row[4] for row in by_figure.get((name, law), [])] for law in LAWS]
        cells.append(sum(cells, []))
        met = " | ".join(f"{sum(cell)} of {len(cell)}" for cell in cells)
        print(f"| {name} | {met} | {100 * own_share(results, name):.0f} % |")
    print("\n| point | figure | Linux | simulated, ten seeds |\n|---|---|---|---|")
    for (name, _), rows in sorted(by_figure.items()):
        for result, linux, low, high, is_met in rows:
            if not is_met:
                print(f"| {described(result)} | {name} | {linux:.4g} | {low:.4g} to {high:.4g} |")


def described(result):
    point = result["point"]
    loss = f", {point['loss_percent']} % lost" if point["loss_percent"] else ""
    kind = "bulk" if point["flows"][0][1] is None else "transfers"
    return (
        f"{result['number']}: {len(point['flows'])} `{point['law']}` ({kind}), {point['rate_mbps']} Mbit/s, "
        f"{point['rtt_ms']} ms, {point['discipline']}, {point['buffer_bdp']} BDP{loss}"
    )


def keep(path, results):
    """Writes the results, whole or not at all."""
    aside = path.with_suffix(".new")
    aside.write_text("".join(json.dumps(result) + "\n" for result in results))
    aside.replace(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ratewire")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--table", action="store_true", help="only print what there is")
    parser.add_argument("--again", action="store_true", help="simulate again what there is")
    given = parser.parse_args()
    given.results.parent.mkdir(parents=True, exist_ok=True)
    given.results.touch()
    results = [json.loads(line) for line in given.results.read_text().splitlines()]
    if given.again:
        results = [simulate_again(given.ratewire, result) for result in results]
        keep(given.results, results)
    elif not given.table:
        known = {result["number"]: result for result in results}
        for number in range(given.points):
            new = {"number": number, "point": drawn(number), "linux": []}
            before = known.get(number, new)
            if not is_short(before):
                continue
            result = measured(given.ratewire, before)
            if result["linux"]:
                known[number] = result
                keep(given.results, known.values())
            if is_short(result):
                print(
                    f"point {number}: packets or hosts were late in {TRIALS} trials; try again on a quieter machine",
                    flush=True,
                )
                continue
            missed = [name for name, *_, is_met in compared(result) if not is_met]
            print(
                f"{described(result)}: {'all met' if not missed else 'not met: ' + ', '.join(missed)}",
                flush=True,
            )
        results = list(known.values())
    table(results)


if __name__ == "__main__":
    main()
