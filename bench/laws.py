"""Laws of shared objects against the same laws in the tree, in packets a second of processor time.

    python3 bench/laws.py target/dist/ratewire

Needs a C compiler. Runs alternate, so that a busy machine slows both; the ratio is that of the medians.
"""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 7
SCENARIO = """
duration = "60 s"
law = "newreno"
[topology]
kind = "dumbbell"
pairs = 10
rtt = "40 ms"
bottleneck = { rate = "1 Gbit/s", delay = "10 ms" }
[record]
interval = "1 s"
[[flow]]
from = "s*"
to = "d*"
"""


def build(source: str, folder: pathlib.Path) -> pathlib.Path:
    """Compiles a law of crates/plugin/laws as its users would."""
    built = (folder / pathlib.Path(source).name).with_suffix(".so")
    plugin = ROOT / "crates/plugin"
    options = ["-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{plugin / 'include'}"]
    subprocess.run(["cc", *options, plugin / "laws" / source, "-o", built, "-lm"], check=True)
    return built


def packets_a_second(binary: pathlib.Path, folder: pathlib.Path, law: str) -> float:
    """Data packets that a run delivers, over the processor time that it takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    out = folder / "out"
    subprocess.run(
        [binary, "run", folder / "scenario.toml", "--law", law, "--quiet", "--out", out],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    run = json.loads((out / "summary.json").read_text())["runs"][0]
    return run["engine"]["data_packets_delivered"] / took


def main() -> None:
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.chdir(folder)
        (folder / "scenario.toml").write_text(SCENARIO)
        print(f"{'law':10} {'in the tree':>14} {'as an object':>14} {'ratio':>7}   data packets a second")
        for law, source in {"newreno": "newreno.c", "xcp": "xcp/xcp.c"}.items():
            built = str(build(source, folder))
            pairs = [
                (packets_a_second(binary, folder, law), packets_a_second(binary, folder, built))
                for _ in range(ROUNDS)
            ]
            own, other = (statistics.median(side) for side in zip(*pairs))
            print(f"{law:10} {own:14,.0f} {other:14,.0f} {other / own:7.3f}")


if __name__ == "__main__":
    main()
