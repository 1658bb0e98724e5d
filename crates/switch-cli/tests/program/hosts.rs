//! Hosts by name, whose addresses may change.
#![expect(clippy::disallowed_methods, reason = "servers run in threads of their own")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use ratewire_testing::port;

use crate::common::{PROGRAM, folder, out, program, write};
use crate::processes::{self, Process};

/// A server at an address that answers lines with a word, so many in each connection.
#[expect(clippy::disallowed_methods, reason = "the server runs beside the programs")]
fn serve(at: &str, word: &'static str, count: usize) -> String {
    let listener = TcpListener::bind(at).expect("an address");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            std::thread::spawn(move || {
                let lines = BufReader::new(stream.try_clone().expect("a socket")).lines();
                for _ in lines.map_while(Result::ok).take(count) {
                    _ = writeln!(stream, "{word}");
                }
            });
        }
    });
    address.to_string()
}

fn ask(gateway: &str) -> String {
    let mut client = TcpStream::connect(gateway).expect("a gateway");
    client.write_all(b"question\n").expect("room");
    let mut answer = String::new();
    BufReader::new(client).read_line(&mut answer).expect("an answer");
    answer.trim_end().to_string()
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

fn port_of(address: &str) -> &str {
    address.rsplit(':').next().expect("a port")
}

#[test]
fn all_parts_find_each_other_by_name() {
    let folder = folder("switch-hosts");
    for key in ["switch.key", "switch.token"] {
        assert!(program(&folder, &["key", key]).status.success());
    }
    let text = "key = \"switch.key\"\nlisten = \"127.0.0.1:0\"\nstatus = \"127.0.0.1:0\"\n\
                [register]\nlisten = \"127.0.0.1:0\"\ntoken = \"switch.token\"\n\
                [[member]]\nname = \"absent\"\naddress = \"ratewire.invalid:5001\"\n";
    write(&folder, "switch.toml", text);
    let mut switch = Process::start(&folder, &["run"]);
    let at = processes::address(&switch.logged("switch ready"));
    let register = processes::address(&switch.logged("members register"));
    let status = processes::address(&switch.logged("status served"));
    let told = program(&folder, &["status", "--json", "--at", &status]);
    let told: serde_json::Value = serde_json::from_str(&out(&told)).expect("JSON");
    let absent = &told["members"][0];
    assert_eq!(
        (&absent["health"], &absent["address"]),
        (&"down".into(), &"ratewire.invalid:5001".into())
    );
    assert!(absent["reason"].as_str().is_some_and(|why| why.contains("resolved")), "{absent}");
    let server = serve("127.0.0.1:0", "here", usize::MAX);
    let (server, register, at) = (port_of(&server), port_of(&register), port_of(&at));
    let mut member = Process::start(
        &folder,
        &words(&format!(
            "member --framing lines --listen 127.0.0.1:{} --server localhost:{server} --register \
             localhost:{register} --name one --token switch.token",
            port()
        )),
    );
    member.logged(" registered");
    let args = format!("gateway --framing lines --listen 127.0.0.1:0 --switch localhost:{at}");
    let mut gateway = Process::start(&folder, &words(&args));
    let address = processes::address(&gateway.logged("clients served"));
    assert_eq!([ask(&address), ask(&address)], ["here", "here"]);
    let ends = [member.end(), gateway.end(), switch.end()];
    assert_eq!(ends, [Some(0); 3]);
}

/// Starts the program with a file of hosts of its own; `None` where the system does not allow that.
fn with_hosts(folder: &Path, args: &str) -> Option<Process> {
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", "mount --bind hosts /etc/hosts"]).current_dir(folder);
    let output = command.stderr(Stdio::null()).status();
    if !output.is_ok_and(|status| status.success()) {
        println!("skipped: the system does not allow a file of hosts for one process");
        return None;
    }
    let script = format!("mount --bind hosts /etc/hosts && exec {PROGRAM} {args}");
    Some(Process::of("unshare", folder, &["-rm", "sh", "-c", &script]))
}

#[test]
fn a_server_whose_name_has_another_address_is_found_there() {
    let folder = folder("switch-hosts-server");
    let port = port();
    serve(&format!("127.0.0.2:{port}"), "old", 1);
    serve(&format!("127.0.0.3:{port}"), "new", 1);
    write(&folder, "hosts", "127.0.0.2 shard\n");
    let args = format!("proxy --framing lines --listen 127.0.0.1:0 shard:{port}");
    let Some(mut proxy) = with_hosts(&folder, &args) else { return };
    let address = processes::address(&proxy.logged("clients served"));
    assert_eq!(ask(&address), "old");
    write(&folder, "hosts", "127.0.0.3 shard\n");
    // The connection of the first question may not have been seen to end.
    let mut answers = std::iter::repeat_with(|| ask(&address)).take(100);
    assert!(answers.any(|answer| answer == "new"));
    assert_eq!(proxy.end(), Some(0));
}

#[test]
fn a_member_whose_name_has_another_address_is_found_there() {
    let folder = folder("switch-hosts-member");
    assert!(program(&folder, &["key", "switch.key"]).status.success());
    let port = port();
    write(&folder, "hosts", "127.0.0.2 shard\n");
    let text = format!(
        "key = \"switch.key\"\nlisten = \"127.0.0.1:0\"\nstatus = \"127.0.0.1:0\"\n\
         [[member]]\nname = \"one\"\naddress = \"shard:{port}\"\n"
    );
    write(&folder, "switch.toml", &text);
    let Some(mut switch) = with_hosts(&folder, "run") else { return };
    let at = processes::address(&switch.logged("switch ready"));
    let member = |host: &str, word| {
        let server = serve("127.0.0.1:0", word, usize::MAX);
        let args = format!("member --framing lines --listen {host}:{port} --server {server}");
        Process::start(&folder, &words(&args))
    };
    let mut old = member("127.0.0.2", "old");
    old.logged("switches served");
    let args = format!("gateway --framing lines --listen 127.0.0.1:0 --switch {at}");
    let mut gateway = Process::start(&folder, &words(&args));
    let address = processes::address(&gateway.logged("clients served"));
    gateway.logged("connected");
    assert_eq!(ask(&address), "old");
    let mut new = member("127.0.0.3", "new");
    new.logged("switches served");
    write(&folder, "hosts", "127.0.0.3 shard\n");
    old.kill();
    // A question shows that the member is down.
    assert_ne!(ask(&address), "old");
    assert!(switch.logged("a member has another address").contains("127.0.0.3"));
    assert_eq!(ask(&address), "new");
    // A switch waits for gateways that have ended, in case they go on.
    assert_eq!([switch.end(), gateway.end(), new.end()], [Some(0); 3]);
}
