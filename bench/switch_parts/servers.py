"""The servers behind the proxies."""
import contextlib
import pathlib
import sys

from . import machine, resp

SERVERS = 4
# Seconds that a slow server takes for a request.
SERVICE = 0.001


@contextlib.contextmanager
def redis():
    """Redis servers: their ports and processes."""
    numbers = machine.ports(SERVERS)
    with contextlib.ExitStack() as stack:
        processes = []
        for number in numbers:
            command = ("redis-server", "--port", number, "--save", "", "--bind", "127.0.0.1")
            process = machine.Process(*command, core=machine.OTHERS)
            processes.append(stack.enter_context(process))
        for number in numbers:
            resp.until_answered(number)
        yield numbers, processes


@contextlib.contextmanager
def slow():
    """Servers that take `SERVICE` for each request, one after the other."""
    numbers = machine.ports(SERVERS)
    program = pathlib.Path(__file__).with_name("slow_redis.py")
    with contextlib.ExitStack() as stack:
        processes = []
        for number in numbers:
            command = (sys.executable, program, number, SERVICE)
            process = machine.Process(*command, core=machine.OTHERS)
            processes.append(stack.enter_context(process))
        for number in numbers:
            resp.until_answered(number)
        yield numbers, processes
