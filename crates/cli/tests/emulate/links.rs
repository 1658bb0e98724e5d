//! What links do to real packets.

use crate::lab::{Lab, link, number};

/// Prints the text and the time to live of each datagram that arrives.
const RECEIVER: &str = r#"/usr/bin/python3 - <<'END'
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
IP_TTL, IP_RECVTTL = 2, 12
s.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
s.bind(("", 9000))
while True:
    data, about, _, _ = s.recvmsg(2000, 100)
    ttl = [struct.unpack("i", value)[0] for _, kind, value in about if kind == IP_TTL][0]
    print("got", data.decode(), ttl, flush=True)
END"#;

/// Sends twenty datagrams, and one with each time to live from 1 to 3.
const SENDER: &str = r#"/usr/bin/python3 - <<'END'
import socket, time
time.sleep(1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
IP_TTL = 2
for i in range(20):
    s.sendto(b"packet%d" % i, ("d1", 9000))
    time.sleep(0.01)
for ttl in (1, 2, 3):
    s.setsockopt(socket.IPPROTO_IP, IP_TTL, ttl)
    s.sendto(b"short%d" % ttl, ("d1", 9000))
END"#;

/// Two routers forward each packet, and the link between them repeats it.
#[test]
fn real_packets_arrive_twice_and_have_been_forwarded() {
    let Some(lab) = Lab::build("links") else { return };
    let text = format!(
        r#"
law      = "cubic"
duration = "3 s"
[topology]
kind       = "dumbbell"
bottleneck = {{ rate = "20 Mbit/s", delay = "15 ms", duplicate = 1, reverse = {{ duplicate = 0 }} }}
access     = {{ rate = "100 Mbit/s", delay = "1 ms" }}
[[program]]
host = "d1"
run  = '''{RECEIVER}'''
[[program]]
host = "s1"
run  = '''{SENDER}'''
"#
    );
    let runs = lab.run(&text, &["--world", "emulate"]);
    let log = lab.log("1-d1.txt");
    for i in 0..20 {
        assert_eq!(log.matches(&format!("got packet{i} 62\n")).count(), 2, "packet {i}: {log}");
    }
    // Of the others only the third has a router's worth of life left.
    assert_eq!(log.matches("got short3 1\n").count(), 2, "{log}");
    assert_eq!(log.matches("got ").count(), 42, "{log}");
    assert_eq!(number(&runs[0]["fidelity"]["expired"]), 2.0);
    let disturbances = &link(&runs[0], "bottleneck")["disturbances"];
    assert_eq!(number(&disturbances["duplicated"]), 21.0);
    let conservation = &runs[0]["conservation"];
    assert_eq!(number(&conservation["duplicated_packets"]), 21.0);
}
