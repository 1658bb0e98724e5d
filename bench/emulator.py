"""The emulator beside plain forwarding: TCP goodput through two hops, and how late packets are.

Usage: emulator.py RATEWIRE. Needs root, iproute2 and iperf3; both are measured in the same run, by iperf3.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SECONDS = 5
TAG = f"rwb{os.getpid()}"

SCENARIO = """
name     = "Two hops"
duration = "{duration} s"
law      = "cubic"

[topology]
kind = "custom"

[[node]]
name = "a"
[[node]]
name = "r"
[[node]]
name = "b"

[[link]]
between = ["a", "r"]
rate    = "{rate}"
delay   = "0 ms"
queue   = "2000 packets"

[[link]]
between = ["r", "b"]
rate    = "{rate}"
delay   = "0 ms"
queue   = "2000 packets"

[[program]]
host = "b"
run  = "iperf3 -s"

[[flow]]
from = "a"
to   = "b"
run  = "iperf3 -c b -t {seconds} -C cubic"
"""


def sh(script):
    return subprocess.run(["sh", "-ec", script], check=True, capture_output=True, text=True).stdout


def plain():
    """Goodput from one namespace to another through a third that forwards, Mbit/s."""
    s, r, d = (TAG + end for end in "srd")
    try:
        sh(f"""
            for n in {s} {r} {d}; do ip netns add $n; ip -n $n link set lo up; done
            ip link add left netns {s} type veth peer name left netns {r}
            ip link add right netns {r} type veth peer name right netns {d}
            ip -n {s} addr add 10.9.1.1/24 dev left; ip -n {r} addr add 10.9.1.2/24 dev left
            ip -n {r} addr add 10.9.2.1/24 dev right; ip -n {d} addr add 10.9.2.2/24 dev right
            for l in "{s} left" "{r} left" "{r} right" "{d} right"; do set -- $l; ip -n $1 link set $2 up; done
            ip -n {s} route add default via 10.9.1.2; ip -n {d} route add default via 10.9.2.1
            ip netns exec {r} sysctl -qw net.ipv4.ip_forward=1
            ip netns exec {d} iperf3 -s -1 -D; sleep 0.3
        """)
        said = sh(f"ip netns exec {s} iperf3 -c 10.9.2.2 -t {SECONDS} -C cubic --json")
        return json.loads(said)["end"]["sum_received"]["bits_per_second"] / 1e6
    finally:
        sh(f"for n in {s} {r} {d}; do ip netns del $n || true; done")


def emulated(ratewire, rate):
    """Goodput through two emulated links of a rate, Mbit/s, and the run's fidelity."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "hops.toml"
        path.write_text(SCENARIO.format(rate=rate, duration=SECONDS + 1, seconds=SECONDS))
        command = [ratewire, "run", path, "--world", "emulate", "--json", "--no-files"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 6):
            sys.exit(done.stderr)
        run = json.loads(done.stdout)["runs"][0]
        return run["flows"][0]["delivered_bytes"] * 8 / SECONDS / 1e6, run["fidelity"]


def main():
    ratewire = sys.argv[1]
    veth = plain()
    print(f"plain veth, two hops          {veth:8.0f} Mbit/s")
    goodput, fidelity = emulated(ratewire, "40 Gbit/s")
    print(
        f"emulated, two hops            {goodput:8.0f} Mbit/s  "
        f"{goodput / veth:.2f} of veth's; lateness p99 {fidelity['lateness_p99_s'] * 1e6:.0f} us"
    )
    goodput, fidelity = emulated(ratewire, "500 Mbit/s")
    print(
        f"emulated, links of 500 Mbit/s {goodput:8.0f} Mbit/s  "
        f"lateness p99 {fidelity['lateness_p99_s'] * 1e6:.0f} us, "
        f"worst {fidelity['lateness_max_s'] * 1e3:.1f} ms"
    )


main()
