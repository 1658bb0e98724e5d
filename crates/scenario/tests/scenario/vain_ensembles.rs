//! Keys of an ensemble's ends that are impossible or have no effect are reported.

use crate::common::{refused, warned};

/// An ensemble of two members around a hub, with further lines.
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
    // The size of a packet is that of the connection.
    let small = "transport = { packet = \"540 B\" }";
    assert_eq!(warned(&window("500 B", small)), "");
    assert!(refused(&window("499 B", small)).contains("a packet carries 500 B"));
    // A packet never carries more than one frame.
    assert_eq!(warned(&window("100 B", "frame = \"100 B\"")), "");
    assert!(refused(&window("99 B", "frame = \"100 B\"")).contains("a packet carries 100 B"));
}

#[test]
fn a_key_ends_with_what_is_simulated_of_a_frame() {
    let hash = |hash: &str| {
        ensemble(&format!("members = [\"h2\", \"h3\"]\nrouting = {{ hash = {{ {hash} }} }}"))
    };
    let said = refused(&hash("offset = 4, len = 5"));
    assert!(said.contains("no frame has the bytes from 4 up to 9"), "{said}");
    assert!(said.contains("without `len` it is all from 4 on"), "{said}");
    for fits in ["offset = 4, len = 4", "offset = 4", "len = 8", "offset = 7", ""] {
        assert_eq!(warned(&hash(fits)), "", "{fits}");
    }
}

#[test]
fn prefixes_are_hexadecimal_and_there_once() {
    let prefix = |prefixes: &str| {
        ensemble(&format!("members = [\"h2\", \"h3\"]\nrouting = {{ prefix = {{ {prefixes} }} }}"))
    };
    for digits in ["", "+1", "0", "0g", "0x", " 1"] {
        let said = refused(&prefix(&format!("\"{digits}\" = \"h2\"")));
        assert!(said.contains(&format!("{digits:?} are not hexadecimal digits")), "{said}");
    }
    let said = refused(&prefix("\"0a\" = \"h2\", \"0A\" = \"h3\""));
    assert!(said.contains("\"0A\" is the same prefix as \"0a\""), "{said}");
    assert_eq!(warned(&prefix("\"0a\" = \"h2\", \"0A00\" = \"h3\"")), "");
}
