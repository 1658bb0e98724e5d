#!/usr/bin/env python3
"""A server of GET and SET that takes a fixed time for each GET, one after the other.

Usage: bench/slow_redis.py PORT SECONDS
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


def main():
    port, service = int(sys.argv[1]), float(sys.argv[2])
    server = socket.create_server(("127.0.0.1", port))
    selector = selectors.DefaultSelector()
    selector.register(server, selectors.EVENT_READ)
    left = {}
    while True:
        for key, _ in selector.select():
            client = key.fileobj
            if client is server:
                client, _ = server.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(client, selectors.EVENT_READ)
                left[client] = b""
                continue
            try:
                data = client.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                selector.unregister(client)
                client.close()
                continue
            asked, left[client] = requests(left[client] + data)
            for words in asked:
                is_get = words[0].upper() == b"GET"
                if is_get:
                    time.sleep(service)
                with contextlib.suppress(ConnectionError):
                    client.sendall(VALUE if is_get else b"+OK\r\n")


main()
