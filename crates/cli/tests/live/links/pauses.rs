//! Programs that pause for longer than a round trip, as most do.

use std::thread::sleep;
use std::time::Duration;

use crate::lab::{LINK, Lab};

/// Answers each megabyte with one byte.
pub(crate) const READER: &str = r#"import socket
listening = socket.create_server(("", 5201))
peer = listening.accept()[0]
left = 1000000
while data := peer.recv(65536):
    left -= len(data)
    if left <= 0:
        peer.send(b"!")
        left += 1000000"#;

/// Sends megabytes with pauses, and prints the seconds until each is answered.
const WRITER: &str = r#"import socket, time
peer = socket.create_connection(("10.7.2.2", 5201))
for pause in [0.02, 0.05, 0.5] * 4:
    time.sleep(pause)
    began = time.monotonic()
    peer.sendall(bytes(1000000))
    peer.recv(1)
    print(time.monotonic() - began, flush=True)"#;

/// Round trips in this lab are far shorter than a router's control interval. If connections aged
/// every round trip, most intervals would see no packet of them.
#[test]
fn a_program_that_pauses_has_the_link_again_at_once() {
    let Some(lab) = Lab::build("pauses") else { return };
    for law in ["xcp", "rcp", "piqi-rcp", "jetmax"] {
        lab.attach(law);
        let mut reader = lab.start("d", true, &format!("python3 -c '{READER}'"));
        sleep(Duration::from_millis(500));
        let writer = lab.start("s", true, &format!("python3 -c '{WRITER}'"));
        let done = writer.wait_with_output().expect("python3 ends");
        let _ = reader.kill();
        reader.wait().expect("so does the reader");
        lab.live(&["detach"]);
        let said = String::from_utf8_lossy(&done.stdout);
        let took: Vec<f64> = said.lines().map(|line| line.parse().expect("a number")).collect();
        assert_eq!(took.len(), 12, "{law}: {}", String::from_utf8_lossy(&done.stderr));
        let rate = 8e6 * took.len() as f64 / took.iter().sum::<f64>();
        assert!(rate > 0.5 * LINK, "{law}: {rate:.0} bit/s while it sent; seconds: {took:?}");
    }
}
