"""The programs of the documentation run."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest

from conftest import ROOT

mpl.use("agg")


@pytest.mark.filterwarnings("ignore::ratewire.ScenarioWarning")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize(
    "page",
    [
        "python/README.md",
        "docs/how-to/use-python.md",
        "docs/how-to/compare-laws.md",
        "docs/how-to/cluster.md",
        "docs/how-to/write-a-law.md",
    ],
)
def test_programs_of_a_page_run_one_after_the_other(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("scenarios", "papers", "data"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    programs = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert programs
    names: dict[str, object] = {"__name__": "program"}
    for program in programs:
        exec(compile(program, page, "exec"), names)
