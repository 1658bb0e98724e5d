"""Processes, their cores and their processor time."""
import contextlib
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

# All proxies have one core; servers and load have the other.
PROXIES, OTHERS = 0, 1


class Group:
    """Processes whose processor time is measured together: a control group of version 2, or, without
    the right to make one, the processes that were started in it.
    """

    made = 0

    def __init__(self, name):
        Group.made += 1
        self.processes = []
        self.folder = None
        for line in pathlib.Path("/proc/mounts").read_text().splitlines():
            _, place, kind, *_ = line.split()
            if kind == "cgroup2":
                self.folder = pathlib.Path(place) / f"ratewire-bench-{os.getpid()}-{Group.made}-{name}"
        try:
            self.folder.mkdir()
        except (AttributeError, OSError):
            self.folder = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.folder:
            # A process that was killed may have left children.
            (self.folder / "cgroup.kill").write_text("1")
            while (self.folder / "cgroup.procs").read_text():
                time.sleep(0.01)
            self.folder.rmdir()

    def join(self):
        """Called by a process that is to be of the group."""
        if self.folder:
            (self.folder / "cgroup.procs").write_text("0")

    def used(self):
        """Processor time of all processes so far, in us."""
        if self.folder:
            for line in (self.folder / "cpu.stat").read_text().splitlines():
                name, value = line.split()
                if name == "usage_usec":
                    return int(value)
        tick = 1e6 / os.sysconf("SC_CLK_TCK")
        fields = (process.stat() for process in self.processes)
        return sum((int(field[11]) + int(field[12])) * tick for field in fields)

    def peak(self):
        """Sum of the processes' largest resident memory, in bytes."""
        return sum(process.status("VmHWM") for process in self.processes)


class Process:
    """A program on a core, in a group, until the block ends."""

    def __init__(self, *command, core=None, folder=None, group=None):
        self.command = [str(part) for part in command]
        self.core, self.folder, self.group = core, folder, group
        if group:
            group.processes.append(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        def place():
            if self.core is not None:
                os.sched_setaffinity(0, {self.core})
            if self.group:
                self.group.join()

        quiet = subprocess.DEVNULL
        self.child = subprocess.Popen(
            self.command, cwd=self.folder, stdin=quiet, stdout=quiet, stderr=quiet, preexec_fn=place
        )
        time.sleep(0.1)
        if self.child.poll() is not None:
            raise SystemExit(f"{' '.join(self.command)} has ended with {self.child.returncode}")

    def kill(self):
        self.child.kill()
        self.child.wait()

    def pause(self):
        self.child.send_signal(signal.SIGSTOP)

    def resume(self):
        self.child.send_signal(signal.SIGCONT)

    def stat(self):
        """Fields of /proc/PID/stat behind the name."""
        text = pathlib.Path(f"/proc/{self.child.pid}/stat").read_text()
        return text.rpartition(")")[2].split()

    def status(self, name):
        """A size of /proc/PID/status, in bytes."""
        for line in pathlib.Path(f"/proc/{self.child.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
        raise KeyError(name)


def ports(count):
    """Ports of loopback that are free for TCP and UDP, below those that the system gives to clients."""
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found = []
    while len(found) < count:
        port = random.randrange(first - 10_000, first)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            with socket.socket(type=socket.SOCK_DGRAM) as udp:
                udp.bind(("127.0.0.1", port))
            if port not in found:
                found.append(port)
    return found


def until_listening(port):
    """Waits for a server without a connection to it, which a proxy would pass on."""
    for _ in range(200):
        sockets = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        # 0A is LISTEN.
        if any(int(fields[1].split(":")[1], 16) == port and fields[3] == "0A" for fields in sockets):
            return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens at port {port}")


def run_on(core, command, timeout):
    """Runs a program to its end on a core."""
    command = ["taskset", "-c", str(core), *map(str, command)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


class Others:
    """Processor time of other programs that compete with the measured ones: all that are not descended
    from this one, not of the idle class and not of a lower priority. Programs that ended meanwhile are
    missed.
    """

    IDLE = "5"

    def __init__(self):
        self.moment, self.last = time.monotonic(), 0.0
        self.ticks = self.read()

    def read(self):
        found, parents = {}, {}
        for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = file.read_text().rpartition(")")[2].split()
                pid = int(file.parent.name)
                parents[pid] = int(fields[1])
                if fields[38] != self.IDLE and int(fields[16]) <= 0:
                    found[pid] = int(fields[11]) + int(fields[12])

        def is_ours(pid):
            while pid > 1 and pid != os.getpid():
                pid = parents.get(pid, 0)
            return pid == os.getpid()

        return {pid: ticks for pid, ticks in found.items() if not is_ours(pid)}

    def cores(self):
        """Cores that they had since the last call. Two calls that follow at once give the same."""
        elapsed = time.monotonic() - self.moment
        if elapsed > 0.2:
            ticks = self.read()
            used = sum(count - self.ticks.get(pid, 0) for pid, count in ticks.items())
            self.last = used / os.sysconf("SC_CLK_TCK") / elapsed
            self.moment, self.ticks = time.monotonic(), ticks
        return self.last


class Load:
    """How far other work had the machine while a part ran."""

    def __init__(self):
        self.before = self.times()

    @staticmethod
    def times():
        line = pathlib.Path("/proc/stat").read_text().splitlines()[0]
        return [int(word) for word in line.split()[1:9]]

    def __str__(self):
        spent = [after - before for before, after in zip(self.before, self.times())]
        total = max(sum(spent), 1)
        average = " ".join(f"{one:.1f}" for one in os.getloadavg())
        return (
            f"load average {average}; processors idle {100 * spent[3] / total:.0f} %, "
            f"with other machines {100 * spent[7] / total:.1f} %"
        )
