"""Memory of a switch by connections and members."""
import pathlib
import subprocess
import tempfile

from . import machine, proxies

CASES = [(1, 100), (1, 1000), (16, 1000), (256, 100)]
LARGEST = (256, 1000)


def measure(release, folder, members, peers):
    """Memory of the switch with all peers, and of each peer, in bytes."""
    command, (listen,) = release / "ratewire-switch", machine.ports(1)
    proxies.switch_file(folder, command, listen, [], "round-robin")
    many = [release / "examples/many", folder / "key", f"127.0.0.1:{listen}", members, peers]
    pipe = subprocess.PIPE
    many = subprocess.Popen([str(part) for part in many], stdin=pipe, stdout=pipe, text=True)
    addresses = [many.stdout.readline().strip() for _ in range(members + 1)][:members]
    proxies.switch_file(folder, command, listen, addresses, "round-robin")
    with machine.Process(command, "run", folder=folder) as process:
        empty = process.status("VmRSS")
        many.stdin.write("\n")
        many.stdin.flush()
        if many.stdout.readline().strip() != "ready":
            raise SystemExit("the peers have failed")
        full = process.status("VmRSS")
        many.communicate("\n")
    return full, (full - empty) / peers


def run(release, has_all):
    print("\nmemory of a switch")
    print(f"{'members':>10}{'connections':>14}{'MB':>10}{'KB a connection':>18}{'KB a member of one':>21}")
    for members, peers in CASES + [LARGEST] * has_all:
        with tempfile.TemporaryDirectory() as folder:
            full, each = measure(release, pathlib.Path(folder), members, peers)
        line = f"{members:10}{peers:14,}{full / 1e6:10.1f}{each / 1000:18.1f}{each / members / 1000:21.2f}"
        print(line, flush=True)
