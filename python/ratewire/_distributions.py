"""Distributions of a run: delays of packets, and completion times of flows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DelaySummary:
    """A distribution of times. Percentiles are within 0.05 %."""

    samples: int
    """How many were measured."""
    mean_s: float
    """Mean, seconds."""
    p50_s: float
    """Median, seconds."""
    p95_s: float
    """95th percentile, seconds."""
    p99_s: float
    """99th percentile, seconds."""
    max_s: float
    """Largest, seconds."""


@dataclass(frozen=True)
class SizeSummary:
    """The completed flows of about one size. Percentiles are ``None`` if there are too few flows to
    show them: fewer than 20, 100 and 1,000.
    """

    from_bytes: int
    """Least size, bytes."""
    below_bytes: int | None
    """Sizes are below this, bytes; ``None`` for no bound."""
    flows: int
    """Flows that completed."""
    median_s: float | None
    """Median of completion time, seconds."""
    p95_s: float | None
    """95th percentile of completion time, seconds."""
    p99_s: float | None
    """99th percentile of completion time, seconds."""
    p999_s: float | None
    """99.9th percentile of completion time, seconds."""
    slowdown_median: float | None
    """Median of completion time over the time alone on the path."""
    slowdown_p95: float | None
    """95th percentile of completion time over the time alone on the path."""
    slowdown_p99: float | None
    """99th percentile of completion time over the time alone on the path."""
    slowdown_p999: float | None
    """99.9th percentile of completion time over the time alone on the path."""


@dataclass(frozen=True)
class ClassSummary:
    """The completed flows of one class of traffic."""

    name: str
    """Name of the class; ``listed flows`` for flows of none."""
    completions: CompletionSummary
    """Their completion times."""


@dataclass(frozen=True)
class CompletionSummary:
    """Flow completion times, from the application's request to the last byte delivered."""

    flows: int
    """Flows that completed."""
    percentiles_exact: bool
    """Whether medians and percentiles are exact. With more than a million flows they are within
    half a percent.
    """
    mean_s: float
    """Mean, seconds."""
    median_s: float
    """Median, seconds."""
    p95_s: float | None
    """95th percentile, seconds; ``None`` with fewer than 20 flows."""
    p99_s: float
    """99th percentile, seconds."""
    p999_s: float | None
    """99.9th percentile, seconds; ``None`` with fewer than 1,000 flows."""
    slowdown_median: float | None
    """Median of completion time over the time alone on the path."""
    slowdown_p95: float | None
    """95th percentile of completion time over the time alone on the path; ``None`` with fewer than
    20 flows.
    """
    slowdown_p99: float | None
    """99th percentile of completion time over the time alone on the path."""
    slowdown_p999: float | None
    """99.9th percentile of completion time over the time alone on the path; ``None`` with fewer
    than 1,000 flows.
    """
    by_size: list[SizeSummary]
    """By flow size, smallest first; sizes of which no flow completed are left out."""
    by_twentieth: list[SizeSummary]
    """By flow size, in up to 20 bins of a twentieth of the flows each. Flows of one size are in one
    bin.
    """
    by_traffic: list[ClassSummary]
    """By class of traffic, listed flows first; empty if all flows are of one class."""
