#!/usr/bin/env python3
"""Mean windows of NewReno and CUBIC when losses come at random, to hold the scenarios against.

A fluid model: the window moves as the law says between losses, one loss comes after an exponentially
distributed number of packets with mean 1/p, and is answered at once. No slow start, no timeouts, no
time for the repair, no whole packets. Windows in packets, times in seconds. Standard library only.

    python3 model.py
"""
import math
import random

EVENTS = 40_000


def newreno(p, events=20 * EVENTS, seed=1):
    """The mean window. In units of 1/sqrt(p) and RTT/sqrt(p) it does not depend on p or the RTT."""
    draw = random.Random(seed)
    window, area, time = 1.0, 0.0, 0.0
    for _ in range(events):
        packets = draw.expovariate(1.0)
        # window * t + t^2 / 2 = packets
        t = math.sqrt(window * window + 2.0 * packets) - window
        area += packets
        time += t
        window = (window + t) / 2.0
    return area / time / math.sqrt(p)


def cubic(p, rtt, fast_convergence=True, events=EVENTS, seed=1, c=0.4, beta=0.7):
    """The mean window, with the Reno-friendly region of RFC 9438, 4.3."""
    draw = random.Random(seed)
    alpha = 3.0 * (1.0 - beta) / (1.0 + beta)
    w_max = 1.054 * (rtt / p) ** 0.75
    start = beta * w_max
    area = time = 0.0
    for _ in range(events):
        packets = draw.expovariate(p)
        prior = start / beta
        k = (max(w_max - start, 0.0) / c) ** (1.0 / 3.0)
        step = max(rtt, k / 400.0)
        t, sent, reno = 0.0, 0.0, start
        while True:
            window = max(c * (t - k) ** 3 + w_max, reno)
            reno += (1.0 if reno >= prior else alpha) * step / rtt
            if sent + window * step / rtt >= packets:
                break
            sent += window * step / rtt
            t += step
        area += packets * rtt
        time += t + (packets - sent) * rtt / window
        w_max = window * (1.0 + beta) / 2.0 if fast_convergence and window < w_max else window
        start = max(beta * window, 2.0)
    return area / time


if __name__ == "__main__":
    print("p       1.22/sqrt(p)  NewReno  1.054(RTT/p)^.75  CUBIC  without fast convergence  (RTT 100 ms)")
    for p in (1e-2, 1e-3, 3e-4, 1e-4, 1e-5):
        print(
            f"{p:<6g}  {math.sqrt(1.5 / p):12.1f}  {newreno(p):7.1f}  {1.054 * (0.1 / p) ** 0.75:17.1f}"
            f"  {cubic(p, 0.1):5.0f}  {cubic(p, 0.1, fast_convergence=False):24.0f}"
        )
