//! Writes the packets of captured links to a pcapng file during the run.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use ratewire_capture::Capture;
use ratewire_net::CapturedFrame;
use ratewire_net::spec::LinkId;
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, LinkSample, PacketSeen, Recorder,
};
use ratewire_sim::setup::Setup;

use crate::Error;

/// A capture in progress, and its first error.
pub(crate) struct PacketFile<'a> {
    path: PathBuf,
    setup: &'a Setup,
    capture: Capture<BufWriter<File>>,
    failed: Option<io::Error>,
}

impl<'a> PacketFile<'a> {
    pub(crate) fn create(path: PathBuf, setup: &'a Setup) -> Result<PacketFile<'a>, Error> {
        let name = |id: &LinkId| (*id, setup.network.links[id.index()].name.as_str());
        let links: Vec<(LinkId, &str)> = setup.captured_links.iter().map(name).collect();
        let start = || {
            let mut capture = Capture::new(BufWriter::new(File::create(&path)?), &links)?;
            for id in setup.frame_links() {
                let link = &setup.network.links[id.index()];
                capture.frames_come_by(id, &link.name, link.from)?;
            }
            Ok(capture)
        };
        let capture = start().map_err(|e| Error::write(&path, e))?;
        Ok(PacketFile { path, setup, capture, failed: None })
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        let finished = match self.failed {
            Some(e) => Err(e),
            None => self.capture.finish().map(drop),
        };
        finished.map_err(|e| Error::write(&self.path, e))
    }
}

impl Recorder for PacketFile<'_> {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        let law = &self.setup.laws[started.law];
        self.capture.flow(started.flow, started.from, started.to, law);
    }
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, _: &LinkSample) {}
    fn flow_completed(&mut self, _: &FlowCompleted) {}
    fn packet(&mut self, seen: &PacketSeen) {
        let is_kept = self.setup.captured_links.contains(&seen.packet.link);
        if is_kept && self.failed.is_none() {
            self.failed = self.capture.packet(seen).err();
        }
    }
    fn frame(&mut self, seen: &CapturedFrame) {
        if self.failed.is_none() {
            self.failed = self.capture.frame(seen).err();
        }
    }
}
