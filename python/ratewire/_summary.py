"""Figures of runs as dataclasses: the content of ``summary.json``.

Names of fields end in their units: ``_s`` is seconds, ``_bps`` bits per second. A figure that
does not exist is ``None``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ratewire._distributions import CompletionSummary, DelaySummary
from ratewire._errors import SettingError


@dataclass(frozen=True)
class Settling:
    """A change (a flow joins or leaves, a link changes) after which flows had to share anew."""

    event: str
    """What changed: ``s2->d2 joins at 10 s``."""
    at_s: float
    """Time of the change, seconds."""
    flows: int
    """Flows that share the network after the change."""
    window_s: float
    """Length of the windows in which shares are taken, seconds."""
    took_s: float | None
    """Time from the change until every flow's part of what all get is within 10 % of the part
    that its max-min fair rate is of all fair rates, and stays there
    until the next change, seconds; ``None`` if they never did.
    """


@dataclass(frozen=True)
class TrafficSummary:
    """A class of arriving traffic, as the scenario asks for it."""

    name: str
    """Its name in the scenario."""
    law: str
    """The law its flows obey."""
    flows_per_second: float | None
    """Flows that arrive in a second, on average; ``None`` if their times are listed."""
    load: float | None
    """The load asked for: 1 is the link's whole rate, or all of the topology's demands; ``None``
    without one.
    """
    load_link: str | None
    """The link that the load is of; ``None`` for the topology's demands."""
    load_other_links: int
    """Number of further links with the same load."""
    expected_flows: float | None
    """Flows that the run was to have on average; ``None`` if their times are listed."""
    expected_bytes: float | None
    """Payload that they were to have on average, bytes; ``None`` if their times are listed."""
    arriving_s: float
    """Length of the time in which flows arrive, seconds."""
    arrived_flows: int
    """Flows that started."""
    arrived_bytes: int
    """Size of the flows that started, bytes of payload."""
    completed_flows: int
    """Flows that completed."""
    retransmitted_bytes: int
    """Payload that completed flows sent again, bytes."""
    fan_in: int
    """Flows that start at once at each arrival: an incast, if there are several."""
    incasts: DelaySummary | None
    """Times from the start of an incast until its last flow was complete; ``None`` without any."""


@dataclass(frozen=True)
class FlowSummary:
    """The figures of one flow over its life."""

    flow: int
    """Index of the flow."""
    name: str
    """Name of the flow."""
    law: str
    """The law the flow obeyed."""
    from_: str
    """Name of the sending node."""
    to: str
    """Name of the receiving node."""
    start_s: float
    """Time at which the application first had data, seconds."""
    size_bytes: int | None
    """Size that the application asked to send, bytes; ``None`` for unlimited data."""
    delivered_bytes: int
    """Data delivered in order to the receiving application, bytes."""
    goodput_bps: float
    """``delivered_bytes`` over the flow's life (start to completion or end of the run), bits per
    second.
    """
    share: float
    """Share of the data that all listed flows delivered over the run, 0 to 1. Of an ensemble's
    edges the total counts those that end at hosts, so each byte counts once.
    """
    completion_s: float | None
    """Time from the flow's start until the last byte was delivered, seconds; ``None`` if it did
    not finish.
    """
    retransmitted_bytes: int
    """Data sent again, bytes."""
    retransmitted_packets: int
    """Packets sent again."""
    rtt_mean_s: float | None
    """Mean of the round-trip time samples, seconds."""
    rtt_min_s: float | None
    """Least of the round-trip time samples, seconds."""
    rtt_max_s: float | None
    """Largest of the round-trip time samples, seconds."""
    rtt: DelaySummary | None
    """Its round-trip time samples; ``None`` without any, and beyond the first 1,000 flows."""
    one_way: DelaySummary | None
    """Times of its data packets from one host to the other, which begin in the sender's queue;
    ``None`` where they are not known, as with ACP and beyond the first 1,000 flows.
    """
    loss_share: float | None
    """Share of its data packets that were dropped or lost, 0 to 1; ``None`` where it is not
    known.
    """
    power_bps2: float | None
    """Power (Kleinrock 1979): ``goodput_bps`` over ``rtt_mean_s``."""
    clamps: int
    """Packets of the flow that policers corrected or dropped."""


@dataclass(frozen=True)
class PausingSummary:
    """Pauses of a link, and the pause frames that it sent."""

    pauses: int
    """How often the far end paused the link."""
    paused_s: float
    """Time for which the link was paused, seconds."""
    frames: int
    """Frames sent on the link that pause or resume links in the other direction."""
    overflowed: int
    """Packets dropped because the buffer at the far end had no room."""


@dataclass(frozen=True)
class DisturbancesSummary:
    """What disturbed a link without a drop."""

    outages: int
    """How often the link went down."""
    down_s: float
    """Time for which the link was down, seconds."""
    duplicated: int
    """Packets that arrived twice."""


@dataclass(frozen=True)
class LinkSummary:
    """The figures of one link direction and its queue."""

    link: int
    """Index of the link."""
    name: str
    """Name of the link."""
    from_: str
    """Name of the sending node."""
    to: str
    """Name of the receiving node."""
    rate_bps: int
    """Capacity, bits per second."""
    delay_s: float
    """One-way propagation delay, seconds."""
    room_bytes: int | None
    """Capacity of the queue, bytes; ``None`` if given in packets or without limit."""
    room_packets: int | None
    """Capacity of the queue, packets; ``None`` if given in bytes or without limit."""
    bottleneck: bool
    """Whether the scenario calls the link the bottleneck."""
    expected_bottleneck: bool
    """Whether it is one of the links that are expected to limit flows, whatever law they run."""
    utilisation: float
    """Share of the run in which the link was busy, 0 to 1."""
    throughput_bps: float
    """Throughput over the run, headers included, bits per second."""
    queue_packets_mean: float
    """Packets waiting, mean over time."""
    queue_packets_p99: float
    """Packets waiting, 99th percentile over time."""
    queue_packets_max: int
    """Packets waiting, most at any instant."""
    queue_bytes_mean: float
    """Bytes waiting, mean over time."""
    queue_bytes_p99: float
    """Bytes waiting, 99th percentile over time."""
    queue_bytes_max: int
    """Bytes waiting, most at any instant."""
    drops: dict[str, int]
    """Packets dropped, by reason (``queue full``, ``lost on the wire``, ...)."""
    loss_share: float | None
    """Share of the packets that were dropped or lost, among these and those that it sent, 0 to 1;
    ``None`` without any.
    """
    marks: int
    """Packets given a congestion mark."""
    clamps: int
    """Packets whose header the policer corrected, or that it dropped."""
    pausing: PausingSummary | None
    """Pauses of the link; ``None`` if it was never paused and sent no pause frames."""
    disturbances: DisturbancesSummary | None
    """Outages of the link, and packets that arrived twice; ``None`` without any."""


@dataclass(frozen=True)
class GroupSummary:
    """The figures of one group of an overlay."""

    name: str
    """Name of the group."""
    senders: int
    """Number of clients that sent to the group."""
    sent_bps: float
    """Data that all senders sent, over the run, bits per second."""
    blocked_share: float
    """Share of the time from a sender's start to its stop for which a message of it waited to be
    sent, mean over the senders.
    """
    receiving_nodes: int
    """Number of nodes that received the group's messages."""
    received_bps: float
    """Data that each of those nodes received, mean, bits per second."""
    delivery_mean_s: float | None
    """Time from the purchase of a message to its delivery at a node, mean, seconds."""
    delivery_max_s: float | None
    """Longest time from the purchase of a message to its delivery, seconds."""


@dataclass(frozen=True)
class ConnectionSummary:
    """The figures of one connection of an overlay and its queue."""

    name: str
    """Name of the connection: that of its flow."""
    waiting_mean: float
    """Messages waiting, mean over time."""
    waiting_max: int
    """Messages waiting, most at any instant."""
    price_mean: float
    """Price of a message over the connection, dollars, mean over samples."""
    data_bytes: int
    """Bytes of clients' messages that the connection carried."""
    control_bytes: int
    """Bytes of messages between nodes that the connection carried."""


@dataclass(frozen=True)
class OverlaySummary:
    """The figures of an overlay."""

    groups: list[GroupSummary]
    """One entry a group, in index order."""
    connections: list[ConnectionSummary]
    """One entry a connection, in index order."""
    sent_bps: float
    """Data that all senders sent, over the run, bits per second."""
    optimum_bps: float | None
    """Data that all senders could have sent at the optimum, where the worth of all messages is
    largest, bits per second; ``None`` where the optimum is not known.
    """
    optimum_ratio: float | None
    """Worth of the messages sent over the worth at the optimum; ``None`` where the optimum is
    zero.
    """
    views: int
    """Views of daemons that a node entered since its start, most of all nodes; 0 without faults.
    """
    control_share: float
    """Bytes of messages between nodes over bytes of clients' messages, on all connections."""


@dataclass(frozen=True)
class Conservation:
    """Packets sent + duplicated = delivered + dropped + in flight, checked in every run."""

    sent_packets: int
    """Packets that hosts sent."""
    duplicated_packets: int
    """Copies that links made of packets."""
    delivered_packets: int
    """Packets that reached their destination."""
    dropped_packets: int
    """Packets dropped anywhere."""
    in_flight_packets: int
    """Packets in queues and on wires when the run ended."""


@dataclass(frozen=True)
class DeadlockSummary:
    """A deadlock: paused links that waited for each other for ever."""

    at_s: float
    """Time at which the deadlock was found, seconds."""
    ring: list[str]
    """Names of the links, each waiting for the next and the last for the first."""


@dataclass(frozen=True)
class EngineFigures:
    """What the engine did. No wall-clock time here: the same run gives the same file."""

    events: int
    """Events handled."""
    data_packets_delivered: int
    """Data packets delivered to hosts."""


@dataclass(frozen=True)
class Fidelity:
    """Fidelity of a run in real time: how well it kept to the model's times."""

    holds: bool
    """Whether the figures of the run can be relied on."""
    times_hold: bool
    """Whether its round trips and completion times can be: they need hosts that are in time too."""
    packets: int
    """Packets that left the network."""
    silent: bool
    """Whether no packet left although flows had data to send."""
    late_share: float
    """Share of packets that left more than 1 ms later than in the model."""
    lateness_p99_s: float
    """Lateness that 99 of 100 packets did not exceed, seconds."""
    lateness_max_s: float
    """The largest lateness, seconds."""
    hosts_late_share: float
    """Share of looks at hosts that found a program more than 1 ms late."""
    hosts_lateness_p99_s: float
    """Lateness of hosts that 99 of 100 looks did not exceed, seconds."""
    hosts_lateness_max_s: float
    """The largest lateness of hosts, seconds."""
    longest_absence_s: float
    """The longest time between two looks at the hosts' devices, seconds."""
    dropped_by_devices: int
    """Packets that hosts' devices dropped because the network did not take them."""
    refused_by_hosts: int
    """Packets that hosts' kernels refused."""
    stray: int
    """Packets for no host of the scenario."""
    expired: int
    """Packets whose time to live was too short for their route."""
    unread_headers: int
    """Packets with a congestion header that no port's law can read."""
    plain_connections: int
    """Connection ends whose peer does not support their law."""
    refused_connections: int
    """Connection ends to which the kernel refused their law's congestion control."""
    connections_that_chose_another: int
    """Connection ends whose program chose another congestion control than their law's."""
    failed_flows: int
    """Flows that failed."""
    offloads: bool
    """Whether hosts hand over many packets at once (segmentation offload)."""
    real_time: bool
    """Whether the network had precedence over programs."""
    differences: list[str]
    """What real senders and packets are otherwise than the scenario says."""


@dataclass(frozen=True)
class RunSummary:
    """The figures of one run."""

    scenario: str
    """The scenario's name."""
    law: str
    """The law the run was made for."""
    seed: int
    """The seed of every random stream."""
    world: str
    """Where the run took place."""
    version: str
    """The version of Ratewire that made the run."""
    duration_s: float
    """Length of the run, seconds."""
    jain_index: float | None
    """Jain's index of the rates at which payload of long flows arrived, in order or not, while
    all of them ran: 1 when all are equal, 1/n when one has everything. Rates are divided by
    weights where a law has an option for weights. ``None`` with fewer than two long flows.
    """
    jain_over_time: float | None
    """Jain's index of the listed flows' goodputs over their max-min fair rates, by windows: mean
    over the time in which at least two flows were active. ``None`` without such a time.
    """
    settlings: list[Settling]
    """How soon flows shared fairly, one entry a change. Changes soon followed by another are left
    out.
    """
    rtt_max_s: float | None
    """Largest of all round-trip time samples of all flows, seconds."""
    rtt: DelaySummary | None
    """Round-trip times of all flows, each sample counted once; ``None`` without any."""
    one_way: DelaySummary | None
    """Times of data packets of all flows from one host to the other; ``None`` without any."""
    loss_share: float | None
    """Share of the data packets that were dropped or lost, 0 to 1; ``None`` without any."""
    arrived_flows: int | None
    """Flows of arriving traffic that started; ``None`` if no traffic arrives."""
    unfinished_flows: int | None
    """Flows of a given size that had started and not completed when the run ended; ``None`` if no
    flow has a size.
    """
    traffic: list[TrafficSummary]
    """One entry a class of arriving traffic, in index order."""
    flows: list[FlowSummary]
    """One entry a flow, in index order."""
    links: list[LinkSummary]
    """One entry a link direction, in index order."""
    completions: CompletionSummary | None
    """Flow completion times, if any flow completed."""
    overlay: OverlaySummary | None
    """The overlay, if there is one."""
    conservation: Conservation
    """Where every packet went."""
    deadlock: DeadlockSummary | None
    """A deadlock: paused links that waited for each other for ever."""
    engine: EngineFigures
    """What the engine did."""
    fidelity: Fidelity | None
    """Fidelity of a run in real time; ``None`` in simulated time."""
    figures: dict[str, float | None] = field(default_factory=dict)
    """Values of figures that were asked for, by name; ``None`` where there was nothing to
    measure.
    """
    measured_from_s: float | None = None
    """Beginning of the part of the run that figures are about, seconds, if they are not about all
    of it. Flows that complete count if they started in it.
    """
    measured_to_s: float | None = None
    """End of that part, seconds."""
    planned_duration_s: float | None = None
    """Length that the run was to have, seconds, if it was interrupted: its figures are partial.
    """


@dataclass(frozen=True)
class Expectation:
    """One claim of the scenario (``[[expect]]``) compared with what was measured."""

    law: str
    """The law of the run."""
    seed: int
    """The seed of the run."""
    world: str
    """The world of the run."""
    claim: str
    """What is claimed, in words: ``utilisation of bottleneck, 5 s .. 30 s``."""
    measured: str
    """What was measured, with its unit; ``not measured`` when there was nothing to measure."""
    bound: str
    """What was allowed: ``at least 0.98``."""
    passed: bool
    """Whether ``measured`` is within ``bound``."""
    metric: str
    """The metric's name."""
    value: float | None
    """What was measured, in ``unit``; ``None`` when there was nothing to measure."""
    min: float | None
    """The least that was allowed, in ``unit``."""
    max: float | None
    """The most that was allowed, in ``unit``."""
    unit: str
    """``bit/s``, ``packets``, ``B`` or ``s``; empty for a share (0 to 1) and Jain's index."""
    target: str
    """What was measured, as written: a link, flows, a class of traffic."""
    window_s: tuple[float, float] | None
    """The time measured, from and to, seconds; ``None`` for the whole run."""
    basis: str
    """What the bound rests on."""
    source: str | None
    """Where the claim is from: a paper's figure, a measurement."""
    note: str | None
    """A remark of the scenario's author."""


@dataclass(frozen=True)
class SetValue:
    """A value set in place of the scenario's own."""

    key: str
    """Path of the key: ``bottleneck.rate``."""
    value: str
    """The value, as it was given."""


@dataclass(frozen=True)
class FileDigest:
    """A file that a scenario names, and its content's digest."""

    name: str
    """The file's name, as the scenario has it."""
    sha256: str
    """SHA-256 of the content, in hexadecimal digits."""


@dataclass(frozen=True)
class Experiment:
    """What made all runs."""

    digest: str
    """SHA-256 of all that determines the runs; equal experiments have equal digests."""
    set: list[SetValue]
    """Values set in place of the scenario's own."""
    files: list[FileDigest]
    """Files that the scenario names."""


@dataclass(frozen=True)
class LeftOut:
    """A law that could not run in a world."""

    law: str
    """The law."""
    world: str
    """The world."""
    why: str
    """Why it could not run."""


@dataclass(frozen=True)
class Summary:
    """The figures of all runs of an experiment."""

    generator: str
    """``ratewire`` and its version."""
    experiment: Experiment
    """What made the runs."""
    runs: list[RunSummary]
    """One entry for each law, world and seed."""
    verdict_links: list[str]
    """Links whose utilisation and queue the verdict has."""
    expectations: list[Expectation]
    """One entry for each expectation and run."""
    left_out: list[LeftOut]
    """Laws that could not run in a world."""

    def run(self, law: str, seed: int | None = None) -> RunSummary:
        """The first run under ``law``, or its run from ``seed``.

        Raises :class:`SettingError` if there is none.
        """
        for run in self.runs:
            if run.law == law and seed in (None, run.seed):
                return run
        known = ", ".join(f"{run.law} from seed {run.seed}" for run in self.runs)
        raise SettingError(f"no run is under {law!r} from this seed; known: {known}")
