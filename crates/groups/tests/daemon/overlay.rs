//! Daemons of one configuration, each in a thread.

use std::fmt::Write as _;
use std::fs;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ratewire_groups::config::Config;
use ratewire_groups::daemon::{DaemonError, Status, fetch_status, reload, run};
use ratewire_overlay::OverlayNodeId;
use ratewire_testing::free_address;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::client::{Client, HANG};

/// Prices that hold nobody back while queues are short.
pub const FREE: &str = "[flow-control]\nfee = 0\nsoft-limit = 1000\nfirst-period = \"10 ms\"\n";

/// Daemons of one configuration, and the folder with their sockets.
pub struct Overlay {
    pub folder: TempDir,
    pub text: String,
}

/// A daemon that runs. Dropping it stops the daemon and does not wait for its end.
pub struct Running {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), DaemonError>>>,
}

impl Overlay {
    /// A daemon called `localhost`, as in the recorded sessions.
    pub fn single(rest: &str) -> (Overlay, Running) {
        let overlay = Overlay::new("", &["localhost"], &[], rest);
        let running = overlay.start("localhost");
        (overlay, running)
    }

    /// Daemons with these names and links. `top` and `rest` are the begin and the end of the file.
    pub fn new(top: &str, names: &[&str], links: &[[&str; 2]], rest: &str) -> Overlay {
        let folder = tempfile::tempdir().unwrap();
        let mut text = format!("{top}\n");
        names.iter().for_each(|name| text.push_str(&table(folder.path(), name)));
        for [a, b] in links {
            writeln!(text, "[[link]]\nbetween = [\"{a}\", \"{b}\"]").unwrap();
        }
        text.push_str(rest);
        Overlay { folder, text }
    }

    /// Names further daemons at the end of the file, and writes it.
    pub fn add(&mut self, names: &[&str]) {
        for name in names {
            self.text.push_str(&table(self.folder.path(), name));
        }
        self.write();
    }

    /// Writes the file, which daemons read again.
    pub fn write(&self) {
        fs::write(self.folder.path().join("groups.toml"), &self.text).unwrap();
    }

    /// The configuration.
    pub fn config(&self) -> Config {
        self.with(&self.text)
    }

    /// The configuration in another text, with files in the same folder.
    pub fn with(&self, text: &str) -> Config {
        Config::parse(&self.folder.path().join("groups.toml"), text)
            .unwrap_or_else(|error| panic!("{error:?}\n{text}"))
    }

    /// Starts a daemon, and waits until clients can connect.
    pub fn start(&self, name: &str) -> Running {
        Running::start(self.config(), name)
    }

    /// Has a daemon read the file again.
    pub fn reload(&self, daemon: &str) -> Result<String, String> {
        let done = reload(&self.folder.path().join(format!("{daemon}.control")));
        done.map_err(|error| error.to_string())
    }

    /// Waits until these daemons are in a view together and have all links with each other, and
    /// with `others`, which are out of it because files differ. No link then comes up that would
    /// change the view again.
    pub fn until_view(&self, of: &[&str], others: &[&str]) {
        let config = self.config();
        let is_there = |peer: &str| of.contains(&peer) || others.contains(&peer);
        loop {
            let status = |name: &&str| {
                let address = config.daemon(config.node(name).unwrap()).status.unwrap();
                fetch_status(address).unwrap()
            };
            let all: Vec<Status> = of.iter().map(status).collect();
            let rests = |status: &Status| {
                let view = &status.view;
                let are_up = status.links.iter().all(|link| link.is_up || !is_there(&link.peer));
                let differ = !others.is_empty();
                let is_told = view.with_another_file.is_empty() != differ;
                view.members == of && !view.is_changing && are_up && is_told
            };
            if all.iter().all(|one| rests(one) && one.view.number == all[0].view.number) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Where clients reach a daemon.
    pub fn socket(&self, daemon: &str) -> PathBuf {
        socket(self.folder.path(), daemon)
    }

    /// A client of a daemon, which is told of members.
    pub fn client(&self, name: &str, daemon: &str) -> Client {
        Client::connect(&self.socket(daemon), name, true)
    }

    /// A client of a daemon, which is not told of members.
    pub fn quiet(&self, name: &str, daemon: &str) -> Client {
        Client::connect(&self.socket(daemon), name, false)
    }

    /// A client of the only daemon.
    pub fn local(&self, name: &str) -> Client {
        self.client(name, "localhost")
    }
}

/// The table of a daemon.
fn table(folder: &Path, name: &str) -> String {
    let ([address, status], socket) = ([free_address(), free_address()], socket(folder, name));
    format!(
        "[[daemon]]\nname = \"{name}\"\naddress = \"{address}\"\nstatus = \"{status}\"\n\
         control = \"{name}.control\"\nlisten = [\"unix:{}\"]\n",
        socket.display()
    )
}

fn socket(folder: &Path, daemon: &str) -> PathBuf {
    folder.join(format!("{daemon}.sock"))
}

impl Running {
    /// Starts a daemon, and waits until clients can connect.
    pub fn start(config: Config, name: &str) -> Running {
        let me = config.node(name).unwrap();
        Running::attempt(config, me).unwrap()
    }

    /// Starts a daemon, or says why it does not start.
    pub fn attempt(config: Config, me: OverlayNodeId) -> Result<Running, DaemonError> {
        let (stop, stopped) = oneshot::channel();
        let (started, is_ready) = mpsc::channel();
        let thread = thread::spawn(move || {
            let stop = async move { _ = stopped.await };
            run(config, me, stop, pending, move || started.send(()).unwrap())
        });
        match is_ready.recv_timeout(HANG) {
            Ok(()) => Ok(Running { stop: Some(stop), thread: Some(thread) }),
            Err(_) => Err(thread.join().unwrap().expect_err("the daemon has ended early")),
        }
    }

    /// Stops the daemon, and waits for its end.
    pub fn stop(mut self) {
        self.stop = None;
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}
