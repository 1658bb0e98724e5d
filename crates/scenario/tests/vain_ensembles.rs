//! What is said of an ensemble's ends and cannot be, or does nothing, is told.

mod common;

use common::{refused, warned};

/// An ensemble of two members around a hub, with these further lines.
fn ensemble(more: &str) -> String {
    format!(
        "duration = \"2 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"star\"\nhosts = 3\n\
         link = {{ rate = \"10 Mbit/s\", delay = \"1 ms\" }}\n\
         [[ensemble]]\nname = \"kv\"\npeer = \"h1\"\nswitch = \"r1\"\n{more}\n"
    )
}

#[test]
fn a_receive_window_of_an_end_holds_a_packet() {
    let window = |size: &str, more: &str| {
        let members =
            format!("members = [{{ node = \"h2\", receive_window = \"{size}\" }}, \"h3\"]");
        ensemble(&format!("{members}\ndirection = \"inbound\"\n{more}"))
    };
    for size in ["0 B", "1 B", "1459 B", "0.5 packets"] {
        let said = refused(&window(size, ""));
        assert!(said.contains(&format!("a window of {size} holds no full packet")), "{said}");
        assert!(said.contains("a packet carries 1.46 KB"), "{said}");
    }
    assert_eq!(warned(&window("1460 B", "")), "");
    // A packet is that of the connection.
    let small = "transport = { packet = \"540 B\" }";
    assert_eq!(warned(&window("500 B", small)), "");
    assert!(refused(&window("499 B", small)).contains("a packet carries 500 B"));
}
