//! Gateways and members that are told to end while a request is under way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use ratewire_testing::port;

use super::common::{folder, one_member};
use super::processes::Process;

/// Processes around a server that answers when the test says so.
struct Around {
    server: TcpListener,
    gateway: String,
    gateway_runs: Process,
    member_runs: Process,
    switch_runs: Process,
}

impl Around {
    fn start(name: &str, gateway_options: &str, member_options: &str) -> Around {
        let folder = folder(name);
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = server.local_addr().expect("an address");
        let [switch, member, gateway] = [(); 3].map(|()| format!("127.0.0.1:{}", port()));
        one_member(&folder, [&switch, "127.0.0.1:0", &member]);
        let start = |args: &str| Process::start(&folder, &args.split(' ').collect::<Vec<_>>());
        let mut switch_runs = start("run");
        switch_runs.logged("status served");
        let member = format!("member --framing lines --listen {member} --server {address}");
        let mut member_runs = start(&format!("{member}{member_options}"));
        member_runs.logged("switches served");
        let listen = format!("gateway --framing lines --listen {gateway} --switch {switch}");
        let mut gateway_runs = start(&format!("{listen}{gateway_options}"));
        gateway_runs.logged("connected");
        Around { server, gateway, gateway_runs, member_runs, switch_runs }
    }

    fn client(&self) -> TcpStream {
        TcpStream::connect(&self.gateway).expect("a gateway")
    }

    /// Sends a question, and returns the connection on which the server has it.
    fn ask(&self, client: &mut TcpStream) -> TcpStream {
        client.write_all(b"question\n").expect("room");
        let (asked, _) = self.server.accept().expect("a member");
        let mut question = String::new();
        let mut lines = BufReader::new(asked.try_clone().expect("a socket"));
        lines.read_line(&mut question).expect("a line");
        assert_eq!(question, "question\n");
        asked
    }
}

#[test]
fn a_gateway_that_is_told_to_end_gives_the_answers_that_are_awaited() {
    for signal in ["TERM", "INT"] {
        let mut around = Around::start("switch-gateway-end", " --timeout 60s", "");
        let (mut client, mut idle) = (around.client(), around.client());
        let mut asked = around.ask(&mut client);
        around.gateway_runs.signal(signal);
        // The end of the other client shows that the gateway ends.
        assert_eq!(idle.read(&mut [0]).expect("an end"), 0);
        assert!(TcpStream::connect(&around.gateway).is_err() && around.gateway_runs.runs());
        asked.write_all(b"answer\n").expect("room");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("an answer and an end");
        assert_eq!(answer, "answer\n");
        assert_eq!(around.gateway_runs.code(), Some(0));
    }
}

#[test]
fn a_gateway_that_is_told_to_end_waits_no_longer_than_for_an_answer() {
    let mut around = Around::start("switch-gateway-end-late", " --timeout 300ms", "");
    let mut client = around.client();
    let _asked = around.ask(&mut client);
    assert_eq!(around.gateway_runs.end(), Some(0));
    let mut told = String::new();
    client.read_to_string(&mut told).expect("an end");
    assert!(!told.contains("answer\n"), "{told}");
}

#[test]
fn a_member_that_is_told_to_end_gives_the_answers_that_are_awaited() {
    let mut around = Around::start("switch-member-end", "", " --drain 60s");
    let mut client = around.client();
    let mut asked = around.ask(&mut client);
    around.member_runs.signal("TERM");
    let told = around.member_runs.logged("the member ends when requests have answers");
    assert!(told.contains("requests=1"), "{told}");
    asked.write_all(b"answer\n").expect("room");
    let mut answer = String::new();
    BufReader::new(&client).read_line(&mut answer).expect("an answer");
    assert_eq!(answer, "answer\n");
    assert_eq!(around.member_runs.code(), Some(0));
    assert!(!around.member_runs.rest_of_log().iter().any(|line| line.contains("under way")));
    assert_eq!(around.switch_runs.end(), Some(0));
}

#[test]
fn a_member_that_is_told_to_end_does_not_wait_for_ever() {
    let mut around = Around::start("switch-member-end-late", "", " --drain 100ms");
    let mut client = around.client();
    let _asked = around.ask(&mut client);
    assert_eq!(around.member_runs.end(), Some(0));
    let log = around.member_runs.rest_of_log();
    assert!(log.iter().any(|line| line.contains("ends with requests under way")), "{log:?}");
}
