//! A server and its client.
#![expect(clippy::disallowed_methods, reason = "the server runs in a thread of its own")]

use std::os::unix::fs::PermissionsExt;
use std::rc::Rc;
use std::thread;

use tokio::sync::oneshot;
use tokio::task::LocalSet;

use super::*;
use ratewire_status::Program;

const SWITCH: Program = Program { command: "ratewire-switch", noun: "switch", file: "switch.toml" };

struct Echo;

impl Controlled for Echo {
    async fn command(&self, words: &[&str]) -> Result<String, String> {
        match words {
            ["echo", rest @ ..] => Ok(rest.join("\n")),
            _ => Err(format!("no such command: {words:?}")),
        }
    }
}

#[test]
fn commands_are_carried_out_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switch.sock");
    let missing = command(&SWITCH, &path, &["echo"]).unwrap_err();
    assert!(missing.to_string().starts_with("no switch takes commands at /"), "{missing}");
    assert_eq!(missing.help(), "start a switch whose switch.toml has the key `control`");
    let (ready, is_ready) = std::sync::mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let of_server = path.clone();
    let serving = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let server = ControlServer::bind(&of_server).await.unwrap();
            assert!(ControlServer::bind(&of_server).await.is_err(), "the path is taken");
            ready.send(()).unwrap();
            tokio::select! {
                () = server.serve(Rc::new(Echo)) => {}
                _ = stopped => {}
            }
        });
    });
    is_ready.recv().unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(command(&SWITCH, &path, &["echo", "a", "b"]).unwrap(), "a b");
    let refused = command(&SWITCH, &path, &["drop", "x\ny"]).unwrap_err();
    assert_eq!(refused.to_string(), "no such command: [\"drop\", \"x\", \"y\"]");
    drop(stop);
    serving.join().unwrap();
    assert!(!path.exists(), "the file goes with the daemon");
}
