//! Members that register, and commands to a running switch.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ratewire_testing::port;

use crate::common::{err, folder, out, program, write};
use crate::processes::{self, Process};
use crate::shards::Kind;

/// A switch with the address where members register, and that of its status.
fn start(folder: &Path, more: &str) -> (Process, String, String) {
    for key in ["switch.key", "switch.token"] {
        assert!(program(folder, &["key", key]).status.success());
    }
    let text = format!(
        "key = \"switch.key\"\nlisten = \"127.0.0.1:0\"\nstatus = \"127.0.0.1:0\"\n\
         control = \"switch.sock\"\n{more}[register]\nlisten = \"127.0.0.1:0\"\n\
         token = \"switch.token\"\n"
    );
    write(folder, "switch.toml", &text);
    let mut switch = Process::start(folder, &["run"]);
    let register = processes::address(&switch.logged("members register"));
    let status = processes::address(&switch.logged("status served"));
    (switch, register, status)
}

fn status(folder: &Path, at: &str) -> serde_json::Value {
    let status = program(folder, &["status", "--json", "--at", at]);
    serde_json::from_str(&out(&status)).expect("JSON")
}

fn member(folder: &Path, register: &str, name: &str, token: &str) -> Process {
    let args = format!(
        "member --framing lines --listen 127.0.0.1:{} --server 127.0.0.1:{} --register \
         {register} --name {name} --token {token}",
        port(),
        port()
    );
    Process::start(folder, &args.split(' ').collect::<Vec<_>>())
}

#[test]
fn a_member_registers_and_leaves_when_it_is_told_to_end() {
    let folder = folder("switch-register");
    let (mut switch, register, at) = start(&folder, "");
    let mut one = member(&folder, &register, "one", "switch.token");
    one.logged(" registered");
    let told = &status(&folder, &at)["members"][0];
    assert_eq!((&told["name"], &told["is_registered"]), (&"one".into(), &true.into()));
    write(&folder, "wrong.token", "0123456789abcdef");
    let mut two = member(&folder, &register, "two", "wrong.token");
    two.logged("other users may read this secret");
    assert!(two.logged("not registered").contains("the token is wrong"));
    assert!(status(&folder, &at)["registration"]["refused"].as_u64() >= Some(1));
    assert_eq!(two.end(), Some(0));
    assert_eq!(one.end(), Some(0));
    one.logged("the switch has finished with the member");
    switch.logged("registered member gone");
    assert_eq!(status(&folder, &at)["members"], serde_json::json!([]));
    assert_eq!(switch.end(), Some(0));
}

#[test]
fn commands_reach_a_switch_that_has_a_socket_for_them() {
    let folder = folder("switch-commands");
    let member = "[[member]]\nname = \"a\"\naddress = \"127.0.0.1:9\"\n";
    let (mut switch, _, at) = start(&folder, member);
    let drained = program(&folder, &["drain", "a"]);
    assert_eq!(out(&drained), "a gets no new frames\n", "{}", err(&drained));
    assert_eq!(status(&folder, &at)["members"][0]["health"], "drained");
    let undrained = program(&folder, &["undrain", "a", "--at", "switch.sock"]);
    assert_eq!(out(&undrained), "a gets new frames again\n", "{}", err(&undrained));
    let unknown = program(&folder, &["drain", "b"]);
    assert_eq!(unknown.status.code(), Some(5));
    assert!(err(&unknown).contains("no member is called b: there are a"), "{}", err(&unknown));
    let reload = program(&folder, &["reload"]);
    assert!(err(&reload).contains("its routing is not \"wasm\""), "{}", err(&reload));
    assert_eq!(switch.end(), Some(0));
    let gone = program(&folder, &["drain", "a"]);
    assert!(err(&gone).contains("no switch takes commands at"), "{}", err(&gone));
}

/// The probe of the documentation finds a server that hangs behind a member that does not.
#[test]
fn a_server_that_hangs_is_down_until_it_goes_on() {
    if !Kind::Redis.is_there() {
        return;
    }
    let folder = folder("switch-probe");
    let (listen, server) = (port(), port());
    let redis = Kind::Redis.start(&folder, server);
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/switch-redis.md");
    let page = std::fs::read_to_string(page).expect("a page");
    let probe = page.split("```toml\n").find(|block| block.starts_with("[probe]"));
    let probe = probe.and_then(|block| block.split("```").next()).expect("a probe");
    let more = format!(
        "{probe}interval = \"50 ms\"\n[[member]]\nname = \"a\"\naddress = \"127.0.0.1:{listen}\"\n"
    );
    let args =
        format!("member --framing resp --listen 127.0.0.1:{listen} --server 127.0.0.1:{server}");
    let (mut switch, _, _) = start(&folder, &more);
    let mut member = Process::start(&folder, &args.split(' ').collect::<Vec<_>>());
    switch.logged("member up");
    redis.signal("STOP");
    assert!(switch.logged("member down").contains("3 probes failed: no answer has come within"));
    redis.signal("CONT");
    switch.logged("member up");
    assert_eq!((member.end(), switch.end()), (Some(0), Some(0)));
}

#[test]
fn a_module_is_read_again_on_sighup() {
    let folder = folder("switch-sighup");
    let module = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../wasm/examples/last.wat"));
    std::fs::write(folder.join("last.wat"), module.expect("a module")).expect("a file");
    let more = "routing = \"wasm\"\n[wasm]\nmodule = \"last.wat\"\n";
    let (mut switch, _, at) = start(&folder, more);
    switch.signal("HUP");
    switch.logged("module reloaded");
    write(&folder, "last.wat", "(module)");
    switch.signal("HUP");
    assert!(switch.logged("module not reloaded").contains("does not export"));
    let module = &status(&folder, &at)["module"];
    assert_eq!((&module["reloads"], &module["refused_reloads"]), (&1.into(), &1.into()));
    let checked = program(&folder, &["check"]);
    assert_eq!(checked.status.code(), Some(2), "{}", err(&checked));
    assert!(err(&checked).contains("does not export"), "{}", err(&checked));
    // The status is where the file in this folder says.
    let text = std::fs::read_to_string(folder.join("switch.toml")).expect("a file");
    write(
        &folder,
        "switch.toml",
        &text.replace("status = \"127.0.0.1:0\"", &format!("status = {at:?}")),
    );
    let told = program(&folder, &["status", "--json"]);
    assert!(out(&told).contains("\"refused_reloads\":1"), "{}{}", out(&told), err(&told));
    write(&folder, "switch.toml", &text.replace("status = \"127.0.0.1:0\"\n", ""));
    let told = program(&folder, &["status"]);
    assert!(err(&told).contains("no key `status`"), "{}", err(&told));
    assert_eq!(switch.end(), Some(0));
}

#[test]
fn a_key_that_others_may_read_is_warned_of() {
    let folder = folder("switch-readable");
    assert!(program(&folder, &["key", "switch.key"]).status.success());
    let member = "[[member]]\nname = \"one\"\naddress = \"127.0.0.1:4000\"\n";
    let text = format!("key = \"switch.key\"\nlisten = \"127.0.0.1:0\"\n{member}");
    write(&folder, "switch.toml", &text);
    let warns = |mode| {
        let file = folder.join("switch.key");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        let checked = program(&folder, &["check"]);
        assert!(checked.status.success(), "{}", err(&checked));
        err(&checked).contains("other users may read switch.key\n  help: chmod 600 switch.key")
    };
    assert!(!warns(0o600));
    assert!(warns(0o644));
}

#[test]
fn only_a_unix_socket_has_a_mode() {
    let folder = folder("switch-mode");
    assert!(program(&folder, &["key", "switch.key"]).status.success());
    let args = "gateway --framing lines --listen 127.0.0.1:0 --listen-mode 660";
    let refused = program(&folder, &args.split(' ').collect::<Vec<_>>());
    assert_eq!(refused.status.code(), Some(2));
    assert!(err(&refused).contains("take `--listen-mode` away"), "{}", err(&refused));
}
