//! Logs that cannot be written.

use std::net::TcpStream;

use ratewire_testing::{Unwritable, port};

use super::common::{folder, one_member, out, program, write};
use super::processes::Process;

#[test]
fn a_log_that_cannot_be_written_ends_no_process() {
    for log in Unwritable::ALL {
        let folder = folder(&format!("switch-log-{log:?}"));
        for key in ["switch.key", "switch.token"] {
            assert!(program(&folder, &["key", key]).status.success());
        }
        let [switch, status, register, member, server, gateway] =
            [(); 6].map(|()| format!("127.0.0.1:{}", port()));
        let text = format!(
            "key = \"switch.key\"\nlisten = \"{switch}\"\nstatus = \"{status}\"\n\
             [register]\nlisten = \"{register}\"\ntoken = \"switch.token\"\n"
        );
        write(&folder, "switch.toml", &text);
        let start = |args: &str| {
            Process::logging_to(log.open(), &folder, &args.split(' ').collect::<Vec<_>>())
        };
        let mut switch_runs = start("run");
        let mut member_runs = start(&format!(
            "member --framing lines --listen {member} --server {server} --register {register} \
             --name one --token switch.token"
        ));
        let mut gateway_runs =
            start(&format!("gateway --framing lines --listen {gateway} --switch {switch}"));
        let is_registered = || {
            let status = program(&folder, &["status", "--json", "--at", &status]);
            let status: serde_json::Value = serde_json::from_str(&out(&status)).unwrap_or_default();
            status["members"][0]["is_registered"] == true
        };
        while !is_registered() || TcpStream::connect(&gateway).is_err() {
            let run = [&mut switch_runs, &mut member_runs, &mut gateway_runs].map(Process::runs);
            assert_eq!(run, [true; 3], "a process has ended");
        }
        let ends = [gateway_runs, member_runs, switch_runs].map(|mut process| process.end());
        assert_eq!(ends, [Some(0); 3]);
    }
}

/// Each process says which framing the other has.
#[test]
fn a_gateway_and_a_member_with_different_framings_refuse_each_other() {
    let folder = folder("switch-framings");
    let [switch, status, member, server, gateway] =
        [(); 5].map(|()| format!("127.0.0.1:{}", port()));
    one_member(&folder, [&switch, &status, &member]);
    let start = |args: &str| Process::start(&folder, &args.split(' ').collect::<Vec<_>>());
    let mut member =
        start(&format!("member --framing memcached --listen {member} --server {server}"));
    member.logged("switches served");
    let mut switch_runs = start("run");
    switch_runs.logged("status served");
    let mut gateway =
        start(&format!("gateway --framing resp --listen {gateway} --switch {switch}"));
    let told = gateway.logged("no connection with a member");
    assert!(told.contains("member one is for memcached, and this peer for resp"), "{told}");
    let told = switch_runs.logged("member refuses a peer");
    assert!(told.contains("it is for memcached, and the peer at"), "{told}");
    let told = member.logged("a switch is refused");
    assert!(told.contains("its gateway has --framing resp, and this member memcached"), "{told}");
    let shown = out(&program(&folder, &["status", "--at", &status]));
    assert!(shown.contains("it is for memcached, and the peer at"), "{shown}");
}
