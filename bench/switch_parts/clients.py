"""Clients that run beside what is measured, in processes of their own."""
import contextlib
import multiprocessing
import os
import threading
import time

from . import machine, report, resp

# Seconds beyond which an answer is slow.
SLOW = 0.25


class Background:
    """A function in a process of its own, on the core of servers and load, until `finish`.

    It is called with an event that says when to stop, and `finish` gives what it returns.
    """

    def __init__(self, work, *args):
        context = multiprocessing.get_context("fork")
        self.stop, (self.here, there) = context.Event(), context.Pipe()

        def child():
            os.sched_setaffinity(0, {machine.OTHERS})
            there.send(work(self.stop, *args))
            # Threads that wait for an answer do not hold up the end.
            there.close()
            os._exit(0)

        self.process = context.Process(target=child)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.join()

    def finish(self, seconds=30):
        self.stop.set()
        if not self.here.poll(seconds):
            raise SystemExit("clients have not ended")
        return self.here.recv()


class Place:
    """A server as clients reach it through a proxy: by the key, or by the connection."""

    def __init__(self, running, by_key, server, key):
        self.port, self.by_key, self.server, self.key = running.port, by_key, server, key

    def connect(self):
        """A proxy that knows no keys gives each connection to the next server."""
        for _ in range(100):
            client = resp.Client(self.port, timeout=20)
            if self.by_key or client.ask("GET", "server") == str(self.server).encode():
                return client
            client.close()
        raise ConnectionError(f"no connection has reached server {self.server}")


def places(running, by_key, servers):
    """Two places at each server, each with a key of its own that exists."""
    keys = resp.shards(running.port, servers, 2) if by_key else [["one", "two"]] * len(servers)
    for i, port in enumerate(servers):
        with resp.Client(port) as client:
            client.ask("SET", "server", i)
            for key in keys[i]:
                client.ask("SET", key, "x")
    return [[Place(running, by_key, i, key) for key in keys[i][:2]] for i in range(len(servers))]


class Probe:
    """A client that asks for one key again and again, and notes when, how long and whether it failed."""

    PAUSE = 0.01

    def __init__(self, place):
        self.place, self.times, self.asked = place, [], None

    def run(self, stop):
        client = self.place.connect()
        while not stop.is_set():
            failed = True
            self.asked = time.monotonic()
            try:
                client = client or self.place.connect()
                answer = client.ask("GET", self.place.key)
                failed = answer is None or answer.startswith(b"-")
            except OSError:
                client = None
            self.times.append((self.asked, time.monotonic() - self.asked, failed))
            self.asked = None
            time.sleep(self.PAUSE)

    def all_times(self):
        """Also of a request that waits for long at the end, as a failure."""
        waited = time.monotonic() - self.asked if self.asked else 0
        return self.times + ([(self.asked, waited, True)] if waited > SLOW else [])


def probe(stop, where):
    """Runs a probe in a thread for each place, until the stop. Gives (server, asked, seconds, failed)."""
    probes = [Probe(place) for place in where]
    for one in probes:
        threading.Thread(target=one.run, args=(stop,), daemon=True).start()
    stop.wait()
    return [(one.place.server, *times) for one in probes for times in one.all_times()]


def write(stop, place, count, size):
    """Sets a key to large values from several clients, 32 requests at a time, until the stop.

    Gives the moments of good answers.
    """
    requests, answered = resp.command("SET", place.key, b"v" * size) * 32, []

    def ask():
        client = place.connect()
        with contextlib.suppress(OSError):
            while not stop.is_set():
                client.socket.sendall(requests)
                for _ in range(32):
                    if not client.answer().startswith(b"-"):
                        answered.append(time.monotonic())

    for _ in range(count):
        threading.Thread(target=ask, daemon=True).start()
    stop.wait()
    return answered


def summary(times, begun, end):
    """Answers a second, requests, those that were slow or failed, and p50, p99 and the longest in ms.

    Of the requests that were asked before the end and were not done at the beginning. A failure
    counts with the time until it.
    """
    seconds = end - begun
    times = [one for one in times if one[1] + one[2] > begun and one[1] < end]
    ms = [1000 * took for _, _, took, _ in times]
    failed = sum(failed for *_, failed in times)
    return {
        "answers": (len(times) - failed) / seconds,
        "asked": len(times),
        "slow": sum(took > SLOW or failed for _, _, took, failed in times),
        "failed": failed,
        "p50": report.quantile(ms, 0.5),
        "p99": report.quantile(ms, 0.99),
        "max": max(ms, default=float("nan")),
    }
