"""Scenarios that all tests use, and the command that results are held against."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import ratewire

ROOT = Path(__file__).parents[2]

#: Two flows that share 10 Mbit/s for two seconds, and a third of 50 kB.
SMALL = """\
name     = "Small"
duration = "2 s"
law      = ["xcp", "cubic"]

[topology]
kind       = "dumbbell"
pairs      = 2
bottleneck = { rate = "10 Mbit/s", delay = "5 ms", queue = "1 bdp" }

[[flow]]
from = "s*"
to   = "d*"

[[flow]]
name  = "short"
from  = "s1"
to    = "d1"
size  = "50 KB"
start = "0.5 s"

[[expect]]
metric = "utilisation"
link   = "bottleneck"
min    = 0.5
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small scenario as a file."""
    path = tmp_path_factory.mktemp("scenarios") / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def results(small: Path) -> ratewire.Results:
    """Results of the small scenario."""
    return ratewire.run(small)


class Command:
    """The command ``ratewire`` of the same build."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        words = [str(self.path), *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def command() -> Command:
    """The command, which tests of equal results need."""
    if named := os.environ.get("RATEWIRE_COMMAND"):
        return Command(Path(named))
    path = ROOT / "target/debug/ratewire"
    if not path.is_file() or is_stale(path):
        pytest.fail(f"{path} is missing or stale: cargo build -p ratewire-cli builds it")
    return Command(path)


def is_stale(program: Path) -> bool:
    """Whether a file that rustc has read for a crate of the program is newer than the program."""
    tell = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    told = subprocess.run(tell, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    packages = {package["name"]: package for package in json.loads(told)["packages"]}
    crates: set[str] = set()
    names = ["ratewire-cli"]
    while names:
        name = names.pop()
        if name not in crates:
            crates.add(name)
            needed = [each for each in packages[name]["dependencies"] if each.get("path")]
            names += [each["name"] for each in needed if each["kind"] != "dev"]
    built = program.stat().st_mtime
    for listed in (program.parent / "deps").glob("*.d"):
        # A list of unit tests names no library.
        if listed.stem.rpartition("-")[0].replace("_", "-") not in crates:
            continue
        text = listed.read_text()
        files = text.partition("\n")[0].partition(": ")[2].replace("\\ ", "\0").split(" ")
        paths = [ROOT / file.replace("\0", " ") for file in files if ".rlib:" in text]
        if any(path.is_file() and path.stat().st_mtime > built for path in paths):
            return True
    return False
