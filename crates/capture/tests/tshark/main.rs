//! Compares captures of simulations with what tshark reads from them. Without tshark the tests skip
//! and say so; with `RATEWIRE_REQUIRE_TOOLS=1` in the environment they fail.

mod frames;
mod packets;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use ratewire_capture::Capture;
use ratewire_laws::AnyLaw;
use ratewire_net::CapturedFrame;
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, LinkSample, PacketSeen, Recorder,
};
use ratewire_sim::{run, setup::Setup};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A recorder that captures packets and keeps what it saw.
struct Recording {
    capture: Capture<Vec<u8>>,
    seen: Vec<PacketSeen>,
    law: AnyLaw,
}

impl Recorder for Recording {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        self.capture.flow(started.flow, started.from, started.to, &self.law);
    }
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, _: &LinkSample) {}
    fn flow_completed(&mut self, _: &FlowCompleted) {}
    fn packet(&mut self, seen: &PacketSeen) {
        self.capture.packet(seen).unwrap();
        self.seen.push(*seen);
    }
    fn frame(&mut self, seen: &CapturedFrame) {
        self.capture.frame(seen).unwrap();
    }
}

/// Runs the set-up; returns the packets seen and the capture's bytes.
fn captured(setup: &Setup, with_payload: bool) -> (Vec<PacketSeen>, Vec<u8>) {
    let links: Vec<_> = setup
        .captured_links
        .iter()
        .map(|link| (*link, setup.network.links[link.index()].name.as_str()))
        .collect();
    let start = if with_payload { Capture::with_payload } else { Capture::new };
    let (mut capture, law) = (start(Vec::new(), &links).unwrap(), setup.laws[0].clone());
    for id in setup.frame_links() {
        let link = &setup.network.links[id.index()];
        capture.frames_come_by(id, &link.name, link.from).unwrap();
    }
    let mut recording = Recording { capture, seen: Vec::new(), law };
    run(setup, &mut recording).unwrap();
    (recording.seen, recording.capture.finish().unwrap())
}

/// What tshark reads in `fields` of each packet, or `None` if there is no tshark.
fn tshark(name: &str, file: &[u8], fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let capture = folder.join("run.pcapng");
    fs::write(&capture, file).unwrap();

    let mut command = Command::new("tshark");
    // Keeps the user's plugins and preferences out.
    command.env("HOME", &folder).env("WIRESHARK_CONFIG_DIR", &folder);
    command.arg("-X").arg(format!("lua_script:{ROOT}/wireshark/ratewire.lua"));
    command.args(["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]);
    command.args(["-o", "eth.check_fcs:TRUE"]);
    command.arg("-r").arg(&capture).args(["-T", "fields", "-E", "separator=|"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
            assert!(!required, "RATEWIRE_REQUIRE_TOOLS=1, but tshark is not installed");
            eprintln!("skipped: tshark is not installed (apt-get install tshark)");
            return None;
        }
        Err(error) => panic!("tshark does not start: {error}"),
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    let failed = !output.status.success() || errors.contains("Lua") || errors.contains("cut short");
    assert!(!failed, "tshark failed: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect())
}
