"""A client of Redis, for what redis-benchmark cannot ask."""
import contextlib
import socket
import time


def command(*words):
    """A request in the protocol of Redis."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    parts = [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"*%d\r\n%s" % (len(words), b"".join(parts))


class Client:
    """One connection. Waiting longer than `timeout` seconds is an OSError."""

    def __init__(self, port, timeout=10):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *words):
        self.socket.sendall(command(*words))

    def answer(self):
        """A line with its first byte, a value as bytes, None, or a list of these."""
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection has ended")
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        return line[:-2]

    def ask(self, *words):
        self.send(*words)
        return self.answer()

    def ask_all(self, requests, batch=256):
        """Answers to requests that are sent in batches."""
        for first in range(0, len(requests), batch):
            some = requests[first : first + batch]
            self.socket.sendall(b"".join(command(*words) for words in some))
            for _ in some:
                yield self.answer()


def fill(servers, keys, size):
    """Empties all servers, and sets all keys at each of them to values of `size` bytes."""
    value = b"v" * size
    for port in servers:
        with Client(port) as client:
            client.ask("FLUSHALL")
            requests = [("SET", key, value) for key in keys]
            for answer in client.ask_all(requests, batch=max(1, (1 << 20) // (size + 64))):
                if answer != b"+OK":
                    raise SystemExit(f"the server at port {port}: {answer}")


def until_answered(port, seconds=20):
    """Waits until keys of all servers are answered."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError), Client(port, timeout=2) as client:
            answers = [client.ask("GET", f"ready{i}") for i in range(64)]
            if not any(answer and answer.startswith(b"-") for answer in answers):
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing answers at port {port}")


def shards(port, servers, count):
    """For each server, keys that a proxy sends to it, as many as `count`."""
    found = [[] for _ in servers]
    with contextlib.ExitStack() as stack:
        direct = [stack.enter_context(Client(server)) for server in servers]
        proxy = stack.enter_context(Client(port))
        for tried in range(1_000):
            if all(len(keys) >= count for keys in found):
                return found
            key = f"shard{tried}"
            for client in direct:
                client.ask("DEL", key)
            proxy.ask("SET", key, "x")
            for client, keys in zip(direct, found):
                if client.ask("EXISTS", key) == b":1":
                    keys.append(key)
    raise SystemExit(f"1,000 keys, and too few for one of the servers {servers}: {found}")
