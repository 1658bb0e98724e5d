//! A client of memcached before two servers.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use ratewire_framing::Framing;

use super::between::gateway;
use super::{Server, server};

fn memcached() -> Option<Server> {
    server("memcached", |port| {
        let port = port.to_string();
        let options = ["-p", &port, "-U", "0", "-l", "127.0.0.1", "-m", "16", "-u", "nobody"];
        options.map(str::to_string).into()
    })
}

/// What is answered to these commands, the last of which is `quit`.
fn answers_to(address: SocketAddr, commands: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(commands.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    answers
}

#[test]
fn two_servers_answer_as_one() {
    let (Some(one), Some(other)) = (memcached(), memcached()) else { return };
    let framing = Framing::named("memcached").unwrap();
    let gateway = gateway(framing, vec![one.address, other.address]);
    let large = "x".repeat(300_000);
    let commands = format!(
        "set a 5 0 1\r\n1\r\nset b 0 0 2 noreply\r\n\r\n\r\nset c 0 0 300000\r\n{large}\r\n\
        add a 0 0 1\r\nx\r\nappend a 0 0 1\r\n0\r\nget a\r\nget  a b none c a\r\ngat 0 a b\r\n\
        incr a 5\r\nincr b 1\r\nincr b 1 noreply\r\ndecr none 1\r\ntouch a 0\r\ndelete none\r\n\
        delete b noreply\r\nget b\r\nincr a x noreply\r\n\
        mg a v q\r\nmg none v q\r\nmg none v\r\nms d 2 q\r\nhi\r\nms e 2 c q\r\nxy\r\n\
        mg d s v k q Ox\r\nmd none\r\nmd d q\r\nma a\r\nma none q\r\nma f N0 J7 v\r\nmn\r\n\
        ms d 2 I I\r\nhi\r\nmg a q q\r\nme none\r\nnonsense\r\nget\r\nget a f\r\nquit\r\n"
    );
    let direct = memcached().unwrap();
    assert_eq!(answers_to(gateway, &commands), answers_to(direct.address, &commands));
}

/// Numbers of `cas` count changes of one server, so they differ from those behind the gateway.
#[test]
fn compare_and_swap_goes_to_the_server_of_the_key() {
    let (Some(one), Some(other)) = (memcached(), memcached()) else { return };
    let framing = Framing::named("memcached").unwrap();
    let gateway = gateway(framing, vec![one.address, other.address]);
    let found = answers_to(gateway, "set a 0 0 1\r\n1\r\ngets a b\r\nquit\r\n");
    let number = found.lines().find_map(|line| line.strip_prefix("VALUE a 0 1 ")).unwrap();
    let swap = |value| format!("cas a 0 0 1 {number}\r\n{value}\r\n");
    let commands = format!("{}{}get a\r\nversion\r\nstats\r\nquit\r\n", swap(2), swap(3));
    let answers = answers_to(gateway, &commands);
    let rest = answers.strip_prefix("STORED\r\nEXISTS\r\nVALUE a 0 1\r\n2\r\nEND\r\nVERSION 1.");
    let rest = rest.unwrap_or_else(|| panic!("{answers}"));
    assert!(rest.contains("\r\nCLIENT_ERROR stats is not supported"), "{answers}");
}

/// Commands with few and many words, with and without `noreply`. A command that the gateway refuses
/// is answered if a server would answer it: clients wait for that.
#[test]
fn what_has_no_answer_from_a_server_has_none_from_the_gateway() {
    let (Some(one), Some(direct)) = (memcached(), memcached()) else { return };
    let gateway = gateway(Framing::named("memcached").unwrap(), vec![one.address]);
    let verbs = "version mn nonsense get gat incr decr touch delete mg md ma me verbosity flush_all \
                 stats cache_memlimit slabs lru lru_crawler extstore";
    let mut wrong = Vec::new();
    let words = ["", " a", " a 1", " 1", " 0", " a 1 2", " a 1 2 3 4 5 6 7"];
    for verb in verbs.split_whitespace() {
        for words in words {
            for end in ["", " noreply", " noreply x"] {
                let line = format!("{verb}{words}{end}");
                let ask = |address| {
                    let answers = answers_to(address, &format!("{line}\r\nmn\r\nquit\r\n"));
                    answers.strip_suffix("MN\r\n").expect("the connection goes on").to_string()
                };
                let (behind, alone) = (ask(gateway), ask(direct.address));
                let is_refused = behind.contains("not supported by the gateway");
                let is_alike = if is_refused {
                    behind.is_empty() == alone.is_empty()
                } else {
                    behind == alone
                };
                if !is_alike {
                    wrong.push(format!("{line}: {behind:?} for {alone:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
