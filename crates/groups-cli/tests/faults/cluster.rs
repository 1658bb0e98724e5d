//! Daemons as processes, and links between them that can be cut.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use ratewire_testing::Unwritable;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::task::AbortHandle;

/// Daemons, and a relay for each link.
pub(crate) struct Cluster {
    folder: PathBuf,
    daemons: Vec<Option<Child>>,
    addresses: Vec<SocketAddr>,
    relays: BTreeMap<(usize, usize), Relay>,
    /// By daemon: how many daemons its file names.
    known: Vec<usize>,
    /// Files that were written.
    files: usize,
}

/// Carries a link's bytes, unless it is cut.
struct Relay {
    to: SocketAddr,
    listener: std::net::TcpListener,
    task: Option<AbortHandle>,
}

fn listener() -> std::net::TcpListener {
    std::net::TcpListener::bind("127.0.0.1:0").expect("a free port")
}

impl Cluster {
    pub(crate) async fn start(count: usize) -> Cluster {
        let folder = ratewire_testing::folder(env!("CARGO_TARGET_TMPDIR"), "groups-faults");
        let addresses: Vec<SocketAddr> =
            (0..count).map(|_| ratewire_testing::free_address()).collect();
        let mut relays = BTreeMap::new();
        for (one, other) in (0..count).flat_map(|other| (0..other).map(move |one| (one, other))) {
            let relay = Relay { to: addresses[other], listener: listener(), task: None };
            relays.insert((one, other), relay);
        }
        let daemons = (0..count).map(|_| None).collect();
        // The last two are added while the others run.
        let known = (0..count).map(|me| (me + 1).max(count - 2)).collect();
        let mut cluster = Cluster { folder, daemons, addresses, relays, known, files: 0 };
        (0..count).for_each(|me| cluster.write(me));
        cluster.mend();
        (0..count).for_each(|me| cluster.restart(me));
        cluster
    }

    /// Writes a daemon's file. Each one says something else of a client.
    fn write(&mut self, me: usize) {
        self.files += 1;
        let mut text = format!(
            "plaintext = true\n[[client]]\nname = \"c1\"\nsalary = {}\n",
            self.files % 9 + 5
        );
        for (other, own) in self.addresses[..self.known[me]].iter().enumerate() {
            // The lower number connects, through the relay.
            let relay = self.relays.get(&(me, other));
            let address = relay.map_or(*own, |relay| relay.listener.local_addr().unwrap());
            let socket = self.folder.join(format!("{other}.sock"));
            text += &format!(
                "[[daemon]]\nname = \"d{other}\"\naddress = \"{address}\"\n\
                 listen = [\"unix:{0}\"]\ncontrol = \"{0}.control\"\n",
                socket.display()
            );
        }
        std::fs::write(self.file(me), text).unwrap();
    }

    fn file(&self, daemon: usize) -> PathBuf {
        self.folder.join(format!("{daemon}.toml"))
    }

    /// Has a daemon's file name one more, and has the daemon read it if it runs.
    async fn reload(&mut self, daemon: usize) {
        self.known[daemon] = self.daemons.len().min(self.known[daemon] + 1);
        self.write(daemon);
        if self.daemons[daemon].is_none() {
            return;
        }
        let mut reload = Command::new(env!("CARGO_BIN_EXE_ratewire-groups"));
        reload.args(["reload", "--config"]).arg(self.file(daemon));
        reload.args(["--name", &format!("d{daemon}")]).stdout(Stdio::null()).stderr(Stdio::null());
        if !reload.status().await.expect("the command starts").success() {
            // It does not take commands yet.
            self.kill(daemon).await;
            self.restart(daemon);
        }
    }

    /// Where clients reach a daemon.
    pub(crate) fn address(&self, daemon: usize) -> String {
        self.folder.join(format!("{daemon}.sock")).display().to_string()
    }

    /// Causes a fault or mends one; `step` chooses which.
    pub(crate) async fn fail(&mut self, step: usize) {
        let links: Vec<(usize, usize)> = self.relays.keys().copied().collect();
        let daemon = step / 10 % self.daemons.len();
        let link = links[step / 10 % links.len()];
        match step % 10 {
            0 | 1 => self.kill(daemon).await,
            2 | 3 => self.restart(daemon),
            // A single cut of a mesh is no partition: cut off a daemon or two.
            4 | 5 => self.cut_off(&[daemon, step / 100 % self.daemons.len()]),
            6 => self.cut(link),
            7 | 8 => self.reload(daemon).await,
            _ => self.mend(),
        }
    }

    /// Mends all links, starts all daemons that do not run, and lets all know all.
    pub(crate) async fn heal(&mut self) {
        self.mend();
        for daemon in 0..self.daemons.len() {
            self.restart(daemon);
            while self.known[daemon] < self.daemons.len() {
                self.reload(daemon).await;
            }
        }
    }

    async fn kill(&mut self, daemon: usize) {
        if let Some(mut child) = self.daemons[daemon].take() {
            child.kill().await.expect("the daemon runs");
        }
    }

    fn restart(&mut self, daemon: usize) {
        if self.daemons[daemon].is_none() {
            let child = Command::new(env!("CARGO_BIN_EXE_ratewire-groups"))
                .args(["daemon", "--config"])
                .arg(self.file(daemon))
                .args(["--name", &format!("d{daemon}")])
                // Logs that find no room end no daemon.
                .stderr(Unwritable::FullDisk.open())
                .kill_on_drop(true)
                .spawn();
            self.daemons[daemon] = Some(child.expect("the command starts"));
        }
    }

    fn cut(&mut self, link: (usize, usize)) {
        if let Some(task) = self.relays.get_mut(&link).and_then(|relay| relay.task.take()) {
            task.abort();
        }
    }

    /// Cuts the links between these daemons and the rest.
    fn cut_off(&mut self, some: &[usize]) {
        let links: Vec<(usize, usize)> = self.relays.keys().copied().collect();
        let parted = |(a, b): &(usize, usize)| some.contains(a) != some.contains(b);
        links.into_iter().filter(parted).for_each(|link| self.cut(link));
    }

    fn mend(&mut self) {
        for relay in self.relays.values_mut().filter(|relay| relay.task.is_none()) {
            let listener = relay.listener.try_clone().unwrap();
            listener.set_nonblocking(true).unwrap();
            let to = relay.to;
            relay.task = Some(tokio::task::spawn_local(carry(listener, to)).abort_handle());
        }
    }
}

async fn carry(listener: std::net::TcpListener, to: SocketAddr) {
    let listener = TcpListener::from_std(listener).expect("a socket");
    loop {
        let Ok((mut one, _)) = listener.accept().await else { continue };
        match TcpStream::connect(to).await {
            Ok(mut other) => {
                tokio::io::copy_bidirectional(&mut one, &mut other).await.ok();
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
