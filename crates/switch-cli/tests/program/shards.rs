//! Unmodified servers, each with a member, behind a switch and a gateway.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use ratewire_testing::port;

use super::common::{out, program, write};
use super::processes::{Process, address, send};

/// Which servers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Redis,
    Memcached,
}

impl Kind {
    fn framing(self) -> &'static str {
        match self {
            Kind::Redis => "resp",
            Kind::Memcached => "memcached",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Kind::Redis => "redis-server",
            Kind::Memcached => "memcached",
        }
    }

    /// Whether the server is installed. With `RATEWIRE_REQUIRE_TOOLS=1` it has to be.
    pub(crate) fn is_there(self) -> bool {
        let program = self.program();
        let found = Command::new(program).arg("--version").output().is_ok();
        let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
        assert!(found || !required, "RATEWIRE_REQUIRE_TOOLS=1, but {program} is not installed");
        if !found {
            println!("skipped: {program} is not installed (make tools)");
        }
        found
    }

    pub(crate) fn start(self, folder: &Path, port: u16) -> Server {
        let mut command = Command::new(self.program());
        let text = port.to_string();
        match self {
            Kind::Redis => {
                command.args(["--save", "", "--bind", "127.0.0.1", "--dir"]);
                command.arg(folder).args(["--port", &text]);
            }
            Kind::Memcached => {
                // Root needs a user to become.
                command.args(["-l", "127.0.0.1", "-u", "nobody", "-t", "1", "-p", &text]);
            }
        }
        let server = Server(command.stdout(Stdio::null()).spawn().expect("the server starts"));
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::yield_now();
        }
        server
    }
}

/// A server that runs.
pub(crate) struct Server(Child);

impl Server {
    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        send(&self.0, signal);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Servers, each with a member, behind a switch and a gateway.
pub(crate) struct Shards {
    kind: Kind,
    folder: PathBuf,
    /// Ports of the servers.
    pub(crate) servers: Vec<u16>,
    /// Port of the gateway.
    pub(crate) gateway: u16,
    members: Vec<Process>,
    addresses: Vec<u16>,
    status: String,
    _processes: Vec<Process>,
    running: Vec<Option<Server>>,
}

impl Shards {
    pub(crate) fn start(kind: Kind, folder: &Path, count: usize) -> Shards {
        assert!(program(folder, &["key", "switch.key"]).status.success());
        let ports = || (0..count).map(|_| port()).collect::<Vec<u16>>();
        let (servers, addresses, gateway, switch) = (ports(), ports(), port(), port());
        let mut text = format!(
            "key = \"switch.key\"\nlisten = \"127.0.0.1:{switch}\"\nstatus = \"127.0.0.1:0\"\n\
             routing = \"hash\"\n"
        );
        for (k, address) in addresses.iter().enumerate() {
            text += &format!("[[member]]\nname = \"m{k}\"\naddress = \"127.0.0.1:{address}\"\n");
        }
        write(folder, "switch.toml", &text);
        let mut process = Process::start(folder, &["run"]);
        let status = address(&process.logged("status served"));
        let mut shards = Shards {
            kind,
            folder: folder.to_path_buf(),
            servers,
            gateway,
            members: Vec::new(),
            addresses,
            status,
            _processes: vec![process],
            running: (0..count).map(|_| None).collect(),
        };
        (0..count).for_each(|k| shards.start_server(k));
        (0..count).for_each(|k| shards.start_member(k));
        let (listen, framing) = (format!("127.0.0.1:{gateway}"), kind.framing());
        let to = format!("127.0.0.1:{switch}");
        let args = ["gateway", "--framing", framing, "--listen", &listen, "--switch", &to];
        let mut process = Process::start(folder, &args);
        process.logged("connected");
        shards._processes.push(process);
        shards
    }

    pub(crate) fn start_server(&mut self, k: usize) {
        self.running[k] = Some(self.kind.start(&self.folder, self.servers[k]));
    }

    /// Kills a server's process, as by `kill -9`.
    pub(crate) fn kill_server(&mut self, k: usize) {
        self.running[k] = None;
    }

    pub(crate) fn start_member(&mut self, k: usize) {
        let listen = format!("127.0.0.1:{}", self.addresses[k]);
        let server = format!("127.0.0.1:{}", self.servers[k]);
        let (start, framing) = (["member", "--framing"], self.kind.framing());
        let rest = ["--listen", &listen, "--server", &server, "--patience", "200 ms"];
        let mut process =
            Process::start(&self.folder, &[&start[..], &[framing], &rest[..]].concat());
        process.logged("switches served");
        match self.members.get_mut(k) {
            Some(member) => *member = process,
            None => self.members.push(process),
        }
    }

    /// Kills a member's process, as by `kill -9`.
    pub(crate) fn kill_member(&mut self, k: usize) {
        self.members[k].kill();
    }

    /// What the switch says of a member.
    pub(crate) fn member(&self, k: usize) -> serde_json::Value {
        let args = ["status", "--json", "--at", &self.status];
        let status = out(&program(Path::new("."), &args));
        let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
        status["members"][k].clone()
    }
}
