"""Congestion-control laws, simulated and compared: one scenario, its results.

::

    import ratewire

    results = ratewire.run("scenarios/three-flows.toml", law="xcp,cubic", seed="1..2")
    for run in results.summary.runs:
        print(run.law, run.seed, run.jain_index)
    results.report("report.html")
"""

from ratewire._errors import (
    Diagnostic,
    Error,
    FileError,
    IncompleteError,
    RunError,
    ScenarioError,
    ScenarioWarning,
    SettingError,
)
from ratewire._law import (
    Books,
    Law,
    LawCheck,
    LawCost,
    Port,
    check_law,
    explain,
    law_cost,
    option,
)
from ratewire._ratewire import (
    Ack,
    Congestion,
    Flow,
    Interval,
    Link,
    Sending,
    Table,
    __version__,
)
from ratewire._results import (
    Claim,
    Comparison,
    ComparisonRow,
    FigureChoice,
    FigureInfo,
    Reproduction,
    Results,
    SweepResults,
)
from ratewire._run import compare, papers, reproduce, run, sweep, why
from ratewire._scenario import Scenario
from ratewire._simulation import Figure, FlowState, LinkState, Simulation, Why
from ratewire._summary import Expectation, RunSummary, Summary

__all__ = [
    "Ack",
    "Books",
    "Claim",
    "Comparison",
    "ComparisonRow",
    "Congestion",
    "Diagnostic",
    "Error",
    "Expectation",
    "Figure",
    "FigureChoice",
    "FigureInfo",
    "FileError",
    "Flow",
    "FlowState",
    "IncompleteError",
    "Interval",
    "Law",
    "LawCheck",
    "LawCost",
    "Link",
    "LinkState",
    "Port",
    "Reproduction",
    "Results",
    "RunError",
    "RunSummary",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Sending",
    "SettingError",
    "Simulation",
    "Summary",
    "SweepResults",
    "Table",
    "Why",
    "__version__",
    "check_law",
    "compare",
    "explain",
    "law_cost",
    "option",
    "papers",
    "reproduce",
    "run",
    "sweep",
    "why",
]
