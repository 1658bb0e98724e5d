//! Laws in this machine's kernel, as users see them: namespaces joined by a router, and unmodified
//! programs.
//!
//! Needs root, iperf3, and a kernel that allows BPF. Without these the tests are skipped, or fail
//! with `RATEWIRE_REQUIRE_ROOT=1`.

// Real programs need real time.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod choice;
mod hostile;
mod lab;
mod links;
mod option;
mod pins;
mod status;
mod upkeep;

use std::path::PathBuf;
use std::process::Command;

use lab::Lab;

#[test]
fn programs_need_not_know_of_it() {
    let Some(lab) = Lab::build("programs") else { return };
    lab.attach("xcp");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("live-{}", lab.tag));
    let (root, shown) = (folder.join("root"), folder.display());
    std::fs::create_dir_all(&root).expect("a folder");
    std::fs::write(
        folder.join("nginx.conf"),
        format!(
            "daemon off; pid {shown}/nginx.pid; error_log {shown}/error.log; events {{}}
             http {{ access_log off; client_body_temp_path {shown}/body; proxy_temp_path {shown}/proxy;
             fastcgi_temp_path {shown}/fastcgi; uwsgi_temp_path {shown}/uwsgi; scgi_temp_path {shown}/scgi;
             server {{ listen 10.7.2.2:80; root {shown}/root; }} }}"
        ),
    )
    .expect("its configuration");
    lab.sh(&format!(
        "cd {shown}; head -c 20000000 /dev/urandom > root/file
         git init -q work; cp root/file work/; cd work; git add file
         git -c user.name=t -c user.email=t@example.invalid commit -qm file
         git clone -q --bare . ../root/work.git; cd ../root/work.git; git update-server-info; chmod -R a+rX {shown}"
    ));
    let conf = folder.join("nginx.conf");
    let mut server = lab.start("d", true, &format!("nginx -c {} -g 'user root;'", conf.display()));
    let fetch = format!(
        "curl -s --retry 20 --retry-connrefused --retry-delay 1 -o {shown}/fetched http://10.7.2.2/file"
    );
    let fetched = lab.start("s", true, &fetch).wait_with_output().expect("curl ends");
    let clone = format!("git clone -q http://10.7.2.2/work.git {shown}/cloned");
    let cloned = lab.start("s", true, &clone).wait_with_output().expect("git ends");
    let said = lab.live(&["status"]);
    let _ = server.kill();
    let _ = server.wait();
    for done in [&fetched, &cloned] {
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    lab.sh(&format!(
        "cmp {shown}/root/file {shown}/fetched; cmp {shown}/root/file {shown}/cloned/file"
    ));
    assert_eq!(lab.queue().drops, 0, "{said}");
    // Each connection at both ends; clones open several.
    assert!(said.contains("0 plain, 0 refused") && !said.contains("xcp: 0 take part"), "{said}");
    std::fs::remove_dir_all(&folder).expect("it goes");
}

#[test]
fn what_cannot_be_attached_says_why_and_changes_nothing() {
    let Some(lab) = Lab::build("wrong") else { return };
    let qdiscs = || {
        let netns = lab.netns("r");
        Command::new("tc").args(["-n", &netns, "qdisc", "show"]).output().expect("tc").stdout
    };
    let before = qdiscs();
    for (args, says) in [
        (
            ["router", "--iface", "nosuch", "--law", "xcp", "--capacity", "1gbit"],
            "no interface is called \"nosuch\"",
        ),
        (
            ["host", "--law", "xcp", "--cgroup", "/nosuch", "--desired", "1gbit"],
            "cannot open the cgroup /nosuch",
        ),
        (
            ["host", "--law", "xcp", "--cgroup", "/tmp", "--desired", "1gbit"],
            "/tmp is no cgroup of version 2",
        ),
    ] {
        let done = lab.ratewire(&[&["live"], &args[..]].concat());
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(5), "{said}");
        assert!(said.contains(says) && said.contains("help: "), "{said}");
        assert_eq!(lab.live(&["status"]), "nothing is attached\n");
        assert!(!std::path::Path::new("/sys/fs/bpf/ratewire").exists(), "nothing stays pinned");
        assert_eq!(qdiscs(), before);
    }
    lab.attach("xcp");
    // Only the attachment that is in the way has to be detached.
    for (args, remedy) in [
        (["router", "--iface", "right", "--law", "rcp", "--capacity", "1gbit"], "--iface right"),
        (["host", "--law", "xcp", "--cgroup", "/tmp", "--desired", "1gbit"], "--hosts"),
    ] {
        let done = lab.ratewire(&[&["live"], &args[..]].concat());
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(5), "{said}");
        let remedy = format!("help: detach it first: ratewire live detach {remedy}\n");
        assert!(said.contains("is attached already") && said.contains(&remedy), "{said}");
    }
    assert!(lab.live(&["status", "--format", "json"]).contains("\"law\": \"xcp\""));
    let said = lab.live(&["status", "--format", "prometheus"]);
    assert!(said.contains("ratewire_router_says_bits_per_second{iface=\"right\",law=\"xcp\"} "));
    assert!(said.contains("# TYPE ratewire_router_says_bits_per_second gauge\n"), "{said}");
    assert!(
        said.contains("ratewire_host_connections_total{law=\"xcp\",kind=\"plain\"} 0"),
        "{said}"
    );
    assert_eq!(lab.live(&["detach", "--hosts"]), "detached: rw_xcp\n");
    assert_eq!(lab.live(&["detach"]), "detached: right\n");
    assert_eq!(qdiscs(), before);
    assert_eq!(lab.live(&["detach"]), "nothing was attached\n");
}

#[test]
fn where_sys_is_another_nothing_is_attached_or_shown() {
    let Some(lab) = Lab::build("sys") else { return };
    lab.attach("rcp");
    for what in ["status", "detach", "host --law rcp"] {
        let ratewire = format!("{} live {what}", env!("CARGO_BIN_EXE_ratewire"));
        let done = Command::new("ip")
            .args(["netns", "exec", &lab.netns("r")])
            .args(ratewire.split(' '))
            .output()
            .expect("ip starts");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{what}: {said}");
        assert!(said.contains("namespace rw") && said.contains("nsenter --net="), "{what}: {said}");
    }
    let doctor = [env!("CARGO_BIN_EXE_ratewire"), "doctor"];
    let done = Command::new("ip").args(["netns", "exec", &lab.netns("r")]).args(doctor).output();
    let said = String::from_utf8_lossy(&done.expect("ip starts").stdout).into_owned();
    assert!(said.contains("NO   BPF file system          hidden"), "{said}");
    assert!(lab.live(&["status"]).contains("right      rcp"), "it is still there");
}

#[test]
fn a_doctor_finds_this_machine_well() {
    let Some(lab) = Lab::build("well") else { return };
    let done = lab.ratewire(&["doctor"]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}");
    let unmounted = format!("umount /sys/fs/bpf; {} doctor", env!("CARGO_BIN_EXE_ratewire"));
    let before = Command::new("unshare").args(["-m", "sh", "-c", &unmounted]).output();
    let before = before.expect("unshare starts");
    let found = String::from_utf8_lossy(&before.stdout);
    assert!(before.status.success() && found.contains("not mounted yet"), "{found}");
    // Emulation, the kernel's own senders, laws in the kernel; not all kernels have all senders.
    let well: Vec<_> = said.split("\n\n").map(|part| part.matches("ok  ").count()).collect();
    assert!(matches!(well[..], [7, 1..=4, 8]) && !said.contains("NO  "), "{said}");
}

#[test]
fn a_doctor_says_what_keeps_runs_from_being_emulated() {
    let Some(lab) = Lab::build("inside") else { return };
    lab.attach("rcp");
    let doctor = |takes_part| {
        let program = format!("{} doctor", env!("CARGO_BIN_EXE_ratewire"));
        let done = lab.start("s", takes_part, &program).wait_with_output().expect("it ends");
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    let (code, said) = doctor(true);
    let line = said.lines().position(|line| line.starts_with("NO   hosts' connections "));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    let lines: Vec<_> = said.lines().skip(line).take(2).collect();
    assert!(lines[0].contains("`ratewire live host --law rcp` has all connections"), "{said}");
    assert!(lines[1].contains("help: `ratewire live detach --hosts`"), "{said}");
    assert_eq!((code, said.matches("NO  ").count()), (Some(5), 1), "{said}");
    let (code, said) = doctor(false);
    assert_eq!(code, Some(0), "it is in another cgroup: {said}");
}
