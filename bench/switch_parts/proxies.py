"""The proxies that are compared, each started in front of the same servers."""
import contextlib
import dataclasses
import pathlib
import subprocess
import tempfile

from . import machine, resp

HAPROXY = """
global
    nbthread 1
    maxconn 4000
defaults
    mode tcp
    timeout connect 5s
    timeout client 60s
    timeout server 60s
listen one
    bind 127.0.0.1:{port}
    balance roundrobin
"""
# A name of its own for each server: without one, the ring has addresses, and another port moves keys.
NUTCRACKER = """
one:
  listen: 127.0.0.1:{port}
  hash: fnv1a_64
  distribution: {distribution}
  redis: true
  servers:
"""


@dataclasses.dataclass
class Running:
    """A proxy that runs: where clients connect to, and its processes by what they are."""

    port: int
    group: machine.Group
    processes: dict


class Proxy:
    """A proxy; `start` runs it in front of servers."""

    def __init__(self, name, by_key, start):
        # Whether it chooses the server of each request by its key, or one for a connection.
        self.name, self.by_key, self._start = name, by_key, start

    @contextlib.contextmanager
    def start(self, servers, is_ready=True):
        """Runs the proxy until the block ends. If the servers are ready, it waits until they answer."""
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            group = stack.enter_context(machine.Group(self.name.lower()))
            running = Running(0, group, {})

            def program(kind, *command):
                process = machine.Process(*command, core=machine.PROXIES, folder=folder, group=group)
                running.processes.setdefault(kind, []).append(stack.enter_context(process))

            running.port = self._start(folder, servers, program)
            if is_ready:
                resp.until_answered(running.port)
            else:
                machine.until_listening(running.port)
            yield running


def haproxy(folder, servers, program):
    (port,) = machine.ports(1)
    text = HAPROXY.format(port=port) + "".join(f"    server s{n} 127.0.0.1:{n}\n" for n in servers)
    (folder / "haproxy.cfg").write_text(text)
    program("HAProxy", "haproxy", "-f", folder / "haproxy.cfg")
    return port


def nutcracker(distribution):
    def start(folder, servers, program):
        port, statistics = machine.ports(2)
        text = NUTCRACKER.format(port=port, distribution=distribution)
        text += "".join(f"  - 127.0.0.1:{n}:1 m{i}\n" for i, n in enumerate(servers))
        (folder / "nutcracker.yml").write_text(text)
        program("nutcracker", "nutcracker", "-c", folder / "nutcracker.yml", "-s", statistics)
        return port

    return start


def switch_file(folder, command, listen, addresses, routing):
    """Writes a key and a switch.toml."""
    if not (folder / "key").exists():
        subprocess.run([command, "key", "key"], cwd=folder, check=True, capture_output=True)
    text = f'key = "key"\nlisten = "127.0.0.1:{listen}"\nrouting = "{routing}"\n'
    for i, address in enumerate(addresses):
        text += f'[[member]]\nname = "m{i}"\naddress = "{address}"\n'
    (folder / "switch.toml").write_text(text)


def ratewire(command):
    def start(folder, servers, program):
        port, listen, *members = machine.ports(2 + len(servers))
        addresses = [f"127.0.0.1:{member}" for member in members]
        switch_file(folder, command, listen, addresses, "hash")
        common = ("--framing", "resp", "--key", "key")
        for address, server in zip(addresses, servers):
            places = ("--listen", address, "--server", f"127.0.0.1:{server}")
            program("member", command, "member", *common, *places)
        program("switch", command, "run")
        places = ("--listen", f"127.0.0.1:{port}", "--switch", f"127.0.0.1:{listen}")
        program("gateway", command, "gateway", *common, *places)
        return port

    return start


def all_of(release):
    """The proxies, in the order of each round."""
    return [
        Proxy("Ratewire", True, ratewire(release / "ratewire-switch")),
        Proxy("nutcracker", True, nutcracker("ketama")),
        Proxy("HAProxy", False, haproxy),
    ]


def even_nutcracker():
    """nutcracker with the distribution that gives all servers as many of the keys k0000000 to k0009999.

    Its usual ring gives the busiest of four servers three tenths of them: at 80 % of what the servers
    can, its times show the spread of keys and not the proxy.
    """
    return Proxy("nutcracker, modula", True, nutcracker("modula"))
