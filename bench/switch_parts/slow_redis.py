#!/usr/bin/env python3
"""A server of GET and SET that takes a fixed time for each GET, one after the other.

Usage: slow_redis.py PORT SECONDS

The end of each GET follows from the end of the one before, so that a sleep that is too long does not
make the server slower than it says. `COUNT` asks for the number of GETs.
"""
import contextlib
import selectors
import socket
import sys
import time

VALUE = b"$64\r\n" + b"v" * 64 + b"\r\n"


def requests(data):
    """Words of the requests in the bytes, and what is left of them. A request is an array of bulk strings."""
    found = []
    while True:
        lines = data.split(b"\r\n", 1)
        if len(lines) < 2:
            return found, data
        words, rest = [], lines[1]
        for _ in range(int(lines[0][1:])):
            length, end, tail = rest.partition(b"\r\n")
            if not end or len(tail) < int(length[1:]) + 2:
                return found, data
            words.append(tail[: int(length[1:])])
            rest = tail[int(length[1:]) + 2 :]
        found.append(words)
        data = rest


class Server:
    """Time of the server in seconds: `free` is the end of what it has done."""

    def __init__(self, port, service):
        self.service, self.free, self.count, self.left = service, 0.0, 0, {}
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", port))
        self.selector.register(self.listener, selectors.EVENT_READ)

    def run(self):
        while True:
            ready = self.selector.select(0)
            if not ready:
                ready = self.selector.select()
                # What comes to an idle server begins now. What has waited began when the server was free.
                self.free = time.monotonic()
            for key, _ in ready:
                if key.fileobj is self.listener:
                    self.accept()
                else:
                    self.read(key.fileobj)

    def accept(self):
        client, _ = self.listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.selector.register(client, selectors.EVENT_READ)
        self.left[client] = b""

    def read(self, client):
        try:
            data = client.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            self.selector.unregister(client)
            del self.left[client]
            client.close()
            return
        asked, self.left[client] = requests(self.left[client] + data)
        for words in asked:
            with contextlib.suppress(ConnectionError):
                client.sendall(self.answer(words[0].upper()))

    def answer(self, name):
        if name == b"COUNT":
            return b":%d\r\n" % self.count
        if name != b"GET":
            return b"+OK\r\n"
        self.count += 1
        self.free += self.service
        wait = self.free - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        return VALUE


if __name__ == "__main__":
    Server(int(sys.argv[1]), float(sys.argv[2])).run()
