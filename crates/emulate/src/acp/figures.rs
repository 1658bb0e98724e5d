//! A flow's figures, from the records of its ends.

use std::sync::Arc;

use ratewire_switch_interface::endpoint::{Figures, RecordFile};
use ratewire_units::{Bytes, Duration, Time};

use super::plan::Sources;

/// Where the figures of a flow are read.
#[derive(Debug)]
pub(crate) struct AcpFlow {
    sender: Option<Arc<RecordFile>>,
    receiver: Option<Arc<RecordFile>>,
    beyond: Vec<Arc<RecordFile>>,
    is_received: bool,
}

impl AcpFlow {
    /// A flow whose sources are among these records.
    pub(super) fn new(sources: &Sources, records: &[Arc<RecordFile>]) -> AcpFlow {
        let record = |n: usize| Arc::clone(&records[n]);
        AcpFlow {
            sender: sources.sender.map(record),
            receiver: sources.receiver.map(record),
            beyond: sources.beyond.iter().map(|n| record(*n)).collect(),
            is_received: sources.is_received,
        }
    }

    /// Payload that has been delivered.
    pub(crate) fn delivered(&self) -> Bytes {
        let of = |figures: Figures| match self.is_received {
            true => figures.received,
            false => figures.acknowledged,
        };
        self.beyond.iter().filter_map(|record| record.figures()).map(of).sum()
    }

    /// The sender's figures; `None` for a switch, and before the sender has some.
    pub(crate) fn sender(&self) -> Option<Figures> {
        self.sender.as_ref()?.figures()
    }

    /// Packets that found no room in the receive buffer.
    pub(crate) fn refused(&self) -> u64 {
        let figures = self.receiver.as_ref().and_then(|record| record.figures());
        figures.map_or(0, |figures| figures.without_room)
    }

    /// When the first frame was sent. A switch sends what has come.
    pub(crate) fn started(&self) -> Option<Time> {
        let started = self.sender.as_ref().map_or(Some(Duration::ZERO), |sender| {
            sender.figures().and_then(|figures| figures.started)
        });
        started.map(|since| Time::ZERO + since)
    }

    /// When all data had arrived.
    pub(crate) fn completed(&self) -> Option<Time> {
        let of = |figures: Figures| match self.is_received {
            true => figures.ended,
            false => figures.acknowledged_at,
        };
        let times = self.beyond.iter().map(|record| record.figures().and_then(of));
        let all: Option<Vec<Duration>> = times.collect();
        all?.into_iter().max().map(|since| Time::ZERO + since)
    }
}
