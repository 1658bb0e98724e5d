//! Processes that end with their values.

use std::io::{BufRead, BufReader, Lines, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use super::common::{out, ratewire, write};

/// A port that is free now.
pub(crate) fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// A command that runs.
pub(crate) struct Process {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
}

impl Process {
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ratewire"));
        command.args(args).current_dir(folder).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let log = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        Process { child, log }
    }

    /// Waits for a line of the log.
    pub(crate) fn logged(&mut self, what: &str) -> String {
        let mut lines = self.log.by_ref().map(|line| line.expect("the log is text"));
        lines.find(|line| line.contains(what)).expect("the process logs it before it ends")
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.expect("kill").success());
    }

    /// Tells it to end; returns its exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        self.signal("TERM");
        self.child.wait().expect("an end").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The address in a line of the log.
pub(crate) fn address(line: &str) -> String {
    let (_, rest) = line.split_once("address=\"").expect("an address");
    rest.trim_end_matches('"').to_string()
}

struct Redis(Child);

impl Redis {
    fn start(folder: &Path, port: u16) -> Redis {
        let port_text = port.to_string();
        let mut command = Command::new("redis-server");
        command.args(["--port", &port_text, "--save", "", "--bind", "127.0.0.1", "--dir"]);
        command.arg(folder).stdout(Stdio::null());
        let child = command.spawn().expect("redis-server starts");
        let redis = Redis(child);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::yield_now();
        }
        redis
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Redis servers, each with a member, behind a switch and a gateway.
pub(crate) struct Shards {
    pub(crate) servers: Vec<u16>,
    pub(crate) gateway: u16,
    members: Vec<Process>,
    addresses: Vec<u16>,
    status: String,
    _processes: Vec<Process>,
    _redis: Vec<Redis>,
}

impl Shards {
    pub(crate) fn start(folder: &Path, count: usize) -> Shards {
        assert!(ratewire(folder, &["switch", "key", "switch.key"]).status.success());
        let ports = || (0..count).map(|_| port()).collect::<Vec<u16>>();
        let (servers, addresses, gateway, switch) = (ports(), ports(), port(), port());
        let redis = servers.iter().map(|port| Redis::start(folder, *port)).collect();
        let mut text = format!(
            "key = \"switch.key\"\nlisten = \"127.0.0.1:{switch}\"\nstatus = \"127.0.0.1:0\"\n\
             routing = \"hash\"\n"
        );
        for (k, address) in addresses.iter().enumerate() {
            text += &format!("[[member]]\nname = \"m{k}\"\naddress = \"127.0.0.1:{address}\"\n");
        }
        write(folder, "switch.toml", &text);
        let mut running = Process::start(folder, &["switch", "run"]);
        let status = address(&running.logged("status served"));
        let mut shards = Shards {
            servers,
            gateway,
            members: Vec::new(),
            addresses,
            status,
            _processes: vec![running],
            _redis: redis,
        };
        (0..count).for_each(|k| shards.start_member(folder, k));
        let listen = format!("127.0.0.1:{gateway}");
        let args = ["switch", "gateway", "--framing", "resp", "--listen", &listen, "--switch"];
        let mut all = args.to_vec();
        let switch = format!("127.0.0.1:{switch}");
        all.push(&switch);
        let mut process = Process::start(folder, &all);
        process.logged("connected");
        shards._processes.push(process);
        shards
    }

    pub(crate) fn start_member(&mut self, folder: &Path, k: usize) {
        let listen = format!("127.0.0.1:{}", self.addresses[k]);
        let server = format!("127.0.0.1:{}", self.servers[k]);
        let args = ["switch", "member", "--framing", "resp", "--listen", &listen, "--server"];
        let mut all = args.to_vec();
        all.push(&server);
        let mut process = Process::start(folder, &all);
        process.logged("switches served");
        match self.members.get_mut(k) {
            Some(member) => *member = process,
            None => self.members.push(process),
        }
    }

    /// Kills a member's process, as by `kill -9`.
    pub(crate) fn kill_member(&mut self, k: usize) {
        self.members[k].child.kill().expect("a process");
        self.members[k].child.wait().expect("an end");
    }

    /// What the switch says of a member.
    pub(crate) fn member(&self, k: usize) -> serde_json::Value {
        let args = ["switch", "status", "--json", "--at", &self.status];
        let status = out(&ratewire(Path::new("."), &args));
        let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
        status["members"][k].clone()
    }
}

/// Gives `redis-cli` these commands, and returns its answers.
pub(crate) fn redis(port: u16, commands: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut command = Command::new("redis-cli");
    command.args(["-p", &port.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("redis-cli starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text: String = commands.into_iter().map(|line| line + "\n").collect();
    input.write_all(text.as_bytes()).expect("room");
    drop(input);
    let answers = out(&child.wait_with_output().expect("an end"));
    answers.lines().filter(|line| !line.is_empty()).map(str::to_string).collect()
}
