//! Tests that pins are safe from other users, and from commands in other network namespaces.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};

use crate::lab::Lab;

const PINS: &str = "/sys/fs/bpf/ratewire";
const RATEWIRE: &str = env!("CARGO_BIN_EXE_ratewire");
/// A port at the loopback device, which every network namespace has.
const PORT: &str = "live router --iface lo --law xcp --capacity 98mbit --queue virtual";

/// Runs a script on the lab's router, in a separate mount namespace without a BPF file system.
///
/// In the script, `live` is `ratewire live`, and `mounts` lists the BPF file systems at the usual
/// place.
fn apart(lab: &Lab, script: &str) -> Output {
    let prepared = format!(
        "while mountpoint -q /sys/fs/bpf; do umount -l /sys/fs/bpf; done
         live() {{ {RATEWIRE} live \"$@\"; }}
         mounts() {{ grep ' /sys/fs/bpf ' /proc/self/mountinfo | grep -o ' - .*' || true; }}
         {script}"
    );
    let mut command = lab.at("r", "unshare");
    command.args(["-m", "--propagation", "private", "sh", "-ec", &prepared]);
    command.output().expect("unshare starts")
}

/// Output of such a script, which must succeed.
fn apart_says(lab: &Lab, script: &str) -> String {
    let done = apart(lab, script);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said
}

/// A folder for a test's own files.
fn scratch(lab: &Lab) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pins-{}", lab.tag));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn the_file_system_is_mounted_for_root_alone_and_unmounted_again() {
    let Some(lab) = Lab::build("mount") else { return };
    let cgroup = lab.cgroup.display();
    let said = apart_says(
        &lab,
        &format!(
            "live router --iface right --law xcp --capacity 98mbit > /dev/null
             live host --law xcp --cgroup {cgroup} > /dev/null
             stat -c %A /sys/fs/bpf {PINS} {PINS}/*
             mounts | grep -o 'bpf ratewire'
             live detach --hosts; mounts | grep -c .; live detach; mounts"
        ),
    );
    let lines: Vec<&str> = said.lines().collect();
    let (modes, rest) = lines.split_at(4);
    assert!(modes.iter().all(|mode| mode.starts_with("drwx-----")), "{said}");
    assert_eq!(
        rest,
        ["bpf ratewire", "detached: rw_xcp", "1", "detached: right"],
        "a port keeps it mounted: {said}"
    );
}

#[test]
fn the_file_system_stays_where_others_use_or_mounted_it() {
    let Some(lab) = Lab::build("stay") else { return };
    let attach = "live router --iface right --law xcp --capacity 98mbit > /dev/null";
    for (before, during, after, source) in [
        (
            ":",
            "mkdir /sys/fs/bpf/another",
            "ls /sys/fs/bpf | grep -v '[.]' || true; mounts",
            "another\n - bpf ratewire",
        ),
        (
            ":",
            "cd /sys/fs/bpf",
            "ls /sys/fs/bpf | grep -v '[.]' || true; mounts",
            " - bpf ratewire",
        ),
        (
            "mount -t bpf bpf /sys/fs/bpf",
            ":",
            "ls /sys/fs/bpf | grep -v '[.]' || true; mounts",
            " - bpf bpf",
        ),
    ] {
        let script = format!("{before}; {attach}; {during}; live detach; {after}");
        let said = apart_says(&lab, &script);
        assert!(said.starts_with(&format!("detached: right\n{source} ")), "{during}: {said}");
    }
}

/// Several commands attach at once, as when systemd starts the units of several interfaces.
#[test]
fn commands_at_the_same_time_mount_one_file_system() {
    let Some(lab) = Lab::build("atonce") else { return };
    let said = apart_says(
        &lab,
        "for iface in left right lo; do
             live router --iface $iface --law xcp --capacity 98mbit --queue virtual & all=\"$all $!\"
         done > /dev/null
         for one in $all; do wait $one; done
         mounts | grep -c .; live detach; mounts",
    );
    assert_eq!(said, "1\ndetached: lo, left, right\n");
}

/// An unprivileged user may have something at the folder's place: nothing there is read, made or
/// removed.
#[test]
fn a_folder_that_others_can_change_is_refused() {
    let Some(lab) = Lab::build("foreign") else { return };
    let scratch = scratch(&lab);
    let victim = scratch.display();
    let cgroup = lab.cgroup.display();
    let root = format!("mkdir -m 700 {PINS}");
    let host = format!("live host --law xcp --cgroup {cgroup}");
    let router = "live router --iface right --law xcp --capacity 98mbit";
    let all = [&*host, router];
    for (make, attach, says, remedy) in [
        (format!("ln -s {victim} {PINS}"), &all[..], "ratewire is not a folder", "rm /sys"),
        (
            format!("{root}; chown 65534 {PINS}"),
            &all,
            "ratewire is user 65534's",
            "mv /sys/fs/bpf/ratewire /sys/fs/bpf/ratewire-old",
        ),
        (
            format!("{root}; chmod 777 {PINS}"),
            &all,
            "others than root may write to /sys/fs/bpf/ratewire (mode 0777)",
            "chmod 0700 /sys/fs/bpf/ratewire",
        ),
        (
            "chmod 0777 /sys/fs/bpf".to_string(),
            &all,
            "others than root may write to /sys/fs/bpf (mode 0777)",
            "chmod 0700 /sys/fs/bpf",
        ),
        (
            "chown 65534 /sys/fs/bpf".to_string(),
            &all,
            "/sys/fs/bpf is user 65534's",
            "chown root /sys/fs/bpf",
        ),
        (
            format!("{root}; ln -s {victim}/host-rw_xcp {PINS}/host-rw_xcp"),
            &all[..1],
            "host-rw_xcp is not a folder",
            "rm /sys/fs/bpf/ratewire/host-rw_xcp",
        ),
        (
            format!("{root}; mkdir {PINS}/host-rw_xcp; chown 65534 {PINS}/host-rw_xcp"),
            &all[..1],
            "host-rw_xcp is user 65534's",
            "host-rw_xcp-old",
        ),
        (
            format!("{router}; tc filter del dev right egress; chown 65534 {PINS}/*-*"),
            &all[1..],
            "is user 65534's; only a folder of root's is safe to pin in",
            "-old",
        ),
    ] {
        // Through a symbolic link these would be a host's pins.
        for file in ["control", "option", "counters", "more"] {
            let folder = scratch.join("host-rw_xcp");
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join(file), file).expect("a file");
        }
        let commands = [&["live status", "live detach"], attach].concat().join("; ");
        let commands = commands.replace("live ", "refused ");
        let script = format!(
            "mount -t bpf -o mode=1777 bpf /sys/fs/bpf
             {make} > /dev/null
             before=$(ls -laR /sys/fs/bpf {victim})
             refused() {{
                 ( live \"$@\" ) 2>&1 && exit 1 || test $? = 5
                 test \"$before\" = \"$(ls -laR /sys/fs/bpf {victim})\"
             }}
             {commands}; {RATEWIRE} doctor || true"
        );
        let said = apart_says(&lab, &script);
        // The doctor checks the file system and the folder in it.
        let expected = 2 + attach.len() + usize::from(attach.len() == 2);
        assert_eq!(said.matches(says).count(), expected, "{make}: {said}");
        assert!(said.contains(remedy), "{make}: {said}");
        assert!(!said.contains("ip netns exec"), "a remedy of another defect: {said}");
        lab.live(&["detach"]);
    }
    std::fs::remove_dir_all(&scratch).expect("it is there");
}

/// If all users may write to the BPF file system, the sticky bit and the folder's mode protect
/// root's pins.
#[test]
fn others_cannot_rename_what_root_has_pinned() {
    let Some(lab) = Lab::build("sticky") else { return };
    let said = apart_says(
        &lab,
        &format!(
            "mount -t bpf -o mode=1777 bpf /sys/fs/bpf
             live router --iface right --law xcp --capacity 98mbit > /dev/null
             nobody() {{ setpriv --reuid 65534 --clear-groups \"$@\" 2> /dev/null && echo could \"$@\"; true; }}
             nobody mv {PINS} {PINS}-old; nobody ls {PINS}; nobody mkdir {PINS}/host-rw_xcp
             stat -c %a {PINS}; live status | grep -c 'right  *xcp'; live detach"
        ),
    );
    assert_eq!(said, "700\n1\ndetached: right\n");
}

#[test]
fn what_is_not_ours_is_left_and_reported() {
    let Some(lab) = Lab::build("notours") else { return };
    let host = format!("{PINS}/host-rw_rcp");
    let cgroup = lab.cgroup.display();
    let script = format!(
        "live host --law rcp --cgroup {cgroup} > /dev/null
         mkdir -p {host}/folder/below {PINS}/another/below; ln -s /etc {host}/link
         mv {host}/counters {host}/mine
         live detach || code=$?; test \"$code\" = 5
         ls {host} {PINS}; rm {host}/link {host}/mine; rm -r {host}/folder
         live detach; ls {PINS}"
    );
    let done = apart(&lab, &script);
    let [said, complaints] = [&done.stdout, &done.stderr].map(|said| String::from_utf8_lossy(said));
    assert!(done.status.success(), "{said}{complaints}");
    assert!(
        complaints.contains(&format!("cannot remove {host}: not Ratewire's: ")),
        "{complaints}"
    );
    assert!(
        complaints.contains("help: ")
            && complaints.contains("folder")
            && complaints.contains("mine"),
        "{complaints}"
    );
    assert_eq!(
        said.split_whitespace().collect::<Vec<_>>(),
        [
            &format!("{PINS}:"),
            "another",
            "host-rw_rcp",
            &format!("{host}:"),
            "folder",
            "link",
            "mine",
            "detached:",
            "rw_rcp",
            "another"
        ],
    );
}

/// `detach` in one network namespace leaves ports of others, whatever keeps those alive.
#[test]
fn a_namespace_that_only_a_mount_keeps_alive_keeps_its_port() {
    let Some(lab) = Lab::build("bound") else { return };
    let file = scratch(&lab).join("netns");
    std::fs::write(&file, "").expect("a file");
    let shown = file.display();
    lab.sh(&format!("unshare --net={shown} true; nsenter --net={shown} ip link set lo up"));
    let inside = |args: &str| {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={shown}")).arg(RATEWIRE).args(args.split(' '));
        let done = command.output().expect("nsenter starts");
        assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    inside(PORT);
    // Even a refused packet starts the port's timer.
    lab.sh(&format!("nsenter --net={shown} curl -s http://127.0.0.1:9 || true"));
    assert_eq!(lab.live(&["detach"]), "nothing was attached\n");
    let said = inside("live status");
    assert!(said.contains("lo         xcp") && !said.contains("half attached"), "{said}");
    // After the namespace is gone, the next command removes its pins, although the port's timer
    // still runs.
    lab.sh(&format!("umount {shown}"));
    let start = Instant::now();
    while Path::new(PINS).exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "its pins stay");
        sleep(Duration::from_millis(50));
        lab.live(&["detach"]);
    }
    std::fs::remove_dir_all(scratch(&lab)).expect("it is there");
}

#[test]
fn a_namespace_that_only_a_thread_lives_in_keeps_its_port() {
    let Some(lab) = Lab::build("thread") else { return };
    let run = |program: &str, args: &str| {
        let done = Command::new(program).args(args.split(' ')).output().expect("it starts");
        assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    std::thread::scope(|scope| {
        let (is_attached, attached) = mpsc::channel();
        let (is_detached, detached) = mpsc::channel();
        let inside = scope.spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).expect("root may");
            run("ip", "link set lo up");
            run(RATEWIRE, PORT);
            is_attached.send(()).expect("the test waits");
            // Receiving fails if the test has failed.
            let _ = detached.recv();
            let said = run(RATEWIRE, "live status");
            run(RATEWIRE, "live detach");
            said
        });
        attached.recv().expect("it is attached");
        let said = lab.live(&["detach"]);
        is_detached.send(()).expect("the thread waits");
        assert_eq!(said, "nothing was attached\n");
        let said = inside.join().expect("it ends");
        assert!(said.contains("lo         xcp") && !said.contains("half attached"), "{said}");
    });
    assert!(!Path::new(PINS).exists(), "nothing stays pinned");
}

/// The inode number of a namespace can be reused, its cookie cannot.
#[test]
fn what_namespaces_that_are_gone_have_left_is_removed() {
    let Some(lab) = Lab::build("gone") else { return };
    let said = apart_says(
        &lab,
        &format!(
            "live router --iface right --law xcp --capacity 98mbit > /dev/null
             own=$(basename $(ls -d {PINS}/*-*)); cookie=${{own#*-}}
             gone={PINS}/${{own%-*}}-$((cookie + 1000000000))
             odd={PINS}/${{own%-*}}-+$cookie
             mkdir -p $gone/router-7 $odd/router-7
             live status | grep -c half || true
             live detach --iface right; ls {PINS} | sed s/$own/own/; ls -d $gone $odd 2> /dev/null | wc -l"
        ),
    );
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..2], ["0", "detached: right"], "{said}");
    assert_eq!(lines.last(), Some(&"1"), "only what is certainly gone goes: {said}");
}
