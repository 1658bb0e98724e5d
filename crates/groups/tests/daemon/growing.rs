//! Daemons that read their file again: a mesh that grows, is retired from, and changes its rules.

use ratewire_groups::spread::Received;
use ratewire_overlay::membership::Service;

use super::client::Client;
use super::lagging::{POLICY, send_until_cut_off};
use super::overlay::{FREE, Overlay, Running};
use super::several::{NAMES, Three};
use super::slow::LIMITS;

/// Every daemon linked to every other.
const MESH: &str = "links = \"mesh\"\nplaintext = true";

fn three() -> Three {
    let overlay = Overlay::new(MESH, &NAMES, &[], FREE);
    overlay.write();
    Three::of(overlay)
}

/// A client of a daemon that is a member of "chat".
fn member(overlay: &Overlay, daemon: &str) -> Client {
    let mut client = overlay.client(&format!("at-{daemon}"), daemon);
    client.join("chat");
    client
}

/// The first of these sends a message, and all get it.
fn talk(clients: &mut [&mut Client], text: &str) {
    clients[0].say(Service::Safe, &["chat"], text.to_string());
    hear(clients, text);
}

/// The next message to each of these has this text, whatever notices come before it.
fn hear(clients: &mut [&mut Client], text: &str) {
    for client in clients {
        let message = loop {
            match client.receive() {
                Received::Message { message, .. } => break message,
                _ => continue,
            }
        };
        assert_eq!(message.data, text);
    }
}

fn new_daemons(number: usize) -> Result<String, String> {
    let new =
        if number == 1 { "a daemon is new".into() } else { format!("{number} daemons are new") };
    Ok(format!("the file has been read again: {new}"))
}

#[test]
fn three_daemons_become_five_while_their_clients_talk() {
    let Three { mut overlay, daemons: _daemons, clients } = three();
    let [mut a, mut b, mut c] = clients;
    overlay.add(&["d", "e"]);
    let _new = ["d", "e"].map(|name| overlay.start(name));
    let [mut d, mut e] = ["d", "e"].map(|name| member(&overlay, name));
    for name in ["b", "a"] {
        assert_eq!(overlay.reload(name), new_daemons(2));
        overlay.until_view(&NAMES, &["d", "e"]);
        talk(&mut [&mut a, &mut b, &mut c], "of three");
        // A daemon that has not read the file yet does not know `d`.
        b.say(Service::Safe, &["chat", "#at-d#d"], "to all and one");
        hear(&mut [&mut a, &mut b, &mut c], "to all and one");
    }
    assert_eq!(overlay.reload("c"), new_daemons(2));
    overlay.until_view(&["a", "b", "c", "d", "e"], &[]);
    talk(&mut [&mut e, &mut d, &mut c, &mut b, &mut a], "of five");
    assert_eq!(overlay.reload("c"), Ok("the file has been read again".into()));
    talk(&mut [&mut a, &mut b, &mut c, &mut d, &mut e], "still of five");
}

/// It was started with the old file: the new one waits until it has the new file.
#[test]
fn a_daemon_that_restarts_with_the_old_file_parts_no_old_ones() {
    let Three { mut overlay, mut daemons, clients } = three();
    let [mut a, b, mut c] = clients;
    let old = overlay.config();
    overlay.add(&["d"]);
    daemons.remove(1).stop();
    drop(b);
    for name in ["a", "c"] {
        assert_eq!(overlay.reload(name), new_daemons(1));
    }
    let _new = overlay.start("d");
    overlay.until_view(&["a", "c", "d"], &[]);
    let mut d = member(&overlay, "d");
    talk(&mut [&mut d, &mut a, &mut c], "without b");
    let _again = Running::start(old, "b");
    overlay.until_view(&NAMES, &["d"]);
    let mut b = member(&overlay, "b");
    talk(&mut [&mut b, &mut a, &mut c], "without d");
    assert_eq!(overlay.reload("b"), new_daemons(1));
    overlay.until_view(&["a", "b", "c", "d"], &[]);
    talk(&mut [&mut a, &mut b, &mut c, &mut d], "of four");
}

#[test]
fn a_retired_daemon_is_left_alone_and_its_place_stays() {
    let Three { mut overlay, mut daemons, clients } = three();
    let [mut a, mut b, mut c] = clients;
    overlay.text = overlay.text.replacen("name = \"c\"", "name = \"c\"\nretired = true", 1);
    overlay.write();
    for name in ["a", "b"] {
        overlay.reload(name).unwrap();
    }
    overlay.until_view(&["a", "b"], &[]);
    talk(&mut [&mut a, &mut b], "of two");
    let why = overlay.reload("c").unwrap_err();
    assert!(why.contains("this daemon, `c`, is retired"), "{why}");
    overlay.until_view(&["c"], &[]);
    talk(&mut [&mut c], "alone");
    daemons.pop().unwrap().stop();
    overlay.add(&["d"]);
    for name in ["a", "b"] {
        assert_eq!(overlay.reload(name), new_daemons(1));
    }
    let _new = overlay.start("d");
    overlay.until_view(&["a", "b", "d"], &[]);
    let mut d = member(&overlay, "d");
    talk(&mut [&mut d, &mut a, &mut b], "with d");
    // One that is retired by mistake comes back.
    for (old, new) in
        [("\"d\"\n", "\"d\"\nretired = true\n"), ("\"d\"\nretired = true\n", "\"d\"\n")]
    {
        overlay.text = overlay.text.replacen(old, new, 1);
        overlay.write();
        for name in ["a", "b"] {
            overlay.reload(name).unwrap();
        }
        let view: &[&str] = if new.contains("retired") { &["a", "b"] } else { &["a", "b", "d"] };
        overlay.until_view(view, &[]);
    }
    talk(&mut [&mut d, &mut a, &mut b], "with d again");
}

#[test]
fn a_policy_changes_while_the_daemon_runs() {
    let (mut overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}"));
    overlay.text += POLICY;
    overlay.write();
    assert_eq!(overlay.reload("localhost"), Ok("the file has been read again".into()));
    let mut slow = overlay.local("slow");
    slow.enter("quick1");
    send_until_cut_off(&overlay, &slow);
}

#[test]
fn a_file_that_a_running_daemon_cannot_take_over_changes_nothing() {
    let Three { mut overlay, daemons: _daemons, clients } = three();
    let [mut a, mut b, mut c] = clients;
    let good = overlay.text.clone();
    for (text, why) in [
        (good.replace("fee = 0", "fee = 1"), "[flow-control] cannot change while the daemon runs"),
        (good.replace("name = \"b\"", "name = \"z\""), "`b` is not daemon 2 any more"),
        (good.replace("fee = 0", "fee = "), "TOML"),
        (
            good.replacen("listen = ", "listen = [\"127.0.0.1:0\"] # ", 1),
            "`control` of this daemon cannot change",
        ),
    ] {
        overlay.text = text;
        overlay.write();
        let said = overlay.reload("a").unwrap_err();
        assert!(said.contains(why), "{said}");
        talk(&mut [&mut a, &mut b, &mut c], "as before");
    }
}
