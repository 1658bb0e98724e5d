//! State of ports.

use std::mem::offset_of;

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use ratewire_units::{Bytes, Duration, Throughput};

use super::options::options;
use super::pinned::Pinned;
use super::{interfaces, is_attached};
use crate::pins::{self, Folder, STATE, router_folder};
use crate::skeletons::router::types::{router as State, rw_jetmax, rw_rcp, rw_xcp, slot as Slot};
use crate::{Error, KernelLaw};

/// State of a port.
#[derive(Clone, Debug)]
pub struct Status {
    /// The interface's name.
    pub iface: String,
    /// The law.
    pub law: KernelLaw,
    /// Capacity that the law shares out.
    pub capacity: Throughput,
    /// Packets since the attachment; a packet of TCP that is cut into segments later counts once.
    pub packets: u64,
    /// Link-layer bytes, headers of all segments included.
    pub bytes: Bytes,
    /// Packets that carried a congestion header.
    pub with_header: u64,
    /// Packets that could not be processed because another processor was at the port.
    pub missed: u64,
    /// Queue when the last packet came.
    pub waiting: Bytes,
    /// Arrival rate in the last control interval.
    pub input: Throughput,
    /// Number of flows, by what the law knows: the rate that each packet states (XCP; JetMax: of
    /// flows bound here), or the rate that flows are given (RCP). Of about the last quarter of a
    /// second; JetMax: of its last interval.
    pub flows: f64,
    /// Mean RTT that packets stated last, also below the minimum of 5 ms that the law uses. JetMax
    /// has none, nor does any law before the first packet.
    pub mean_rtt: Option<Duration>,
    /// RCP: the rate for all. JetMax: the rate of each flow bound here. XCP: the change of the
    /// total that was last asked for.
    pub says: Throughput,
    /// Whether the capacity is measured.
    pub is_measured: bool,
    /// What the port is set to: names and values of its law's options, as `live router --option`
    /// takes them; empty before the first packet.
    pub options: Vec<(&'static str, String)>,
    /// What the port's policer has done, if it has one.
    pub police: Option<Policed>,
}

/// What a policer has done since the attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policed {
    /// Flows that are watched now.
    pub flows: u64,
    /// Entries made for flows. Those beyond `flows` were needed for others; a flow that comes back
    /// counts again.
    pub entries: u64,
    /// Packets whose headers were corrected.
    pub corrected: u64,
    /// Packets that were dropped.
    pub dropped: u64,
}

/// State of the ports of this network namespace.
///
/// # Errors
/// If the interfaces cannot be listed, or others than root can change the pins.
pub fn status() -> Result<Vec<Status>, Error> {
    let one = |(iface, found)| match found {
        Found::Port(state) => state.status(iface),
        Found::Half => None,
    };
    Ok(look()?.into_iter().filter_map(one).collect())
}

/// Interfaces of this network namespace whose [`attach`](super::attach) is incomplete: it was
/// killed, or has not finished.
///
/// # Errors
/// If the interfaces cannot be listed, or others than root can change the pins.
pub fn halfway() -> Result<Vec<String>, Error> {
    let half = look()?.into_iter().filter(|(_, found)| matches!(found, Found::Half));
    Ok(half.map(|(iface, _)| iface).collect())
}

/// What an interface has.
enum Found {
    /// A port.
    Port(Pinned),
    /// A program without kept state, or pins for a program that is gone.
    Half,
}

/// Interfaces of this network namespace with objects of ours.
fn look() -> Result<Vec<(String, Found)>, Error> {
    crate::quiet();
    let own = pins::open_own()?;
    let one = |(ifindex, iface)| {
        let pinned = own.as_ref().map_or(Ok(None), |own| own.open(&router_folder(ifindex)))?;
        let found = match (is_attached(ifindex), pinned.as_ref().and_then(state)) {
            (true, Some(state)) => Some(Found::Port(state)),
            (is_attached, _) => (is_attached || pinned.is_some()).then_some(Found::Half),
        };
        Ok(found.map(|found| (iface, found)))
    };
    interfaces()?.into_iter().filter_map(|each| one(each).transpose()).collect()
}

/// Pinned state of a port, if there is one.
pub(super) fn state(folder: &Folder) -> Option<Pinned> {
    read(&MapHandle::from_pinned_path(folder.pin(STATE)).ok()?)
}

/// Content of a port's map.
pub(crate) fn read(map: &impl MapCore) -> Option<Pinned> {
    let bytes = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    (bytes.len() == size_of::<Slot>()).then_some(Pinned(bytes))
}

impl Pinned {
    pub(crate) fn status(&self, iface: String) -> Option<Status> {
        let rate = |at: usize| Throughput::new(self.u64(at) as f64);
        let law = KernelLaw::numbered(self.u32(offset_of!(State, law)))?;
        let port = |at: usize| self.u64(offset_of!(State, port) + at);
        // In 2^-RW_FLOWS of `bpf/laws/arithmetic.h`.
        let counted = |at: usize| port(at) as f64 / 65536.0;
        let (input, flows, mean_rtt_us, says) = match law {
            KernelLaw::Xcp => (
                port(offset_of!(rw_xcp, input_bw)),
                counted(offset_of!(rw_xcp, flows)),
                Some(port(offset_of!(rw_xcp, told_rtt_us))),
                port(offset_of!(rw_xcp, feedback)),
            ),
            KernelLaw::Rcp | KernelLaw::PiqiRcp => (
                port(offset_of!(rw_rcp, input_bw)),
                // The latter is in 2^-8.
                port(offset_of!(rw_rcp, recent_input)) as f64
                    / (port(offset_of!(rw_rcp, recent_rate)).max(1) as f64 / 256.0),
                Some(port(offset_of!(rw_rcp, sample)) >> 8),
                port(offset_of!(rw_rcp, rate)) >> 8,
            ),
            KernelLaw::Jetmax => (
                port(offset_of!(rw_jetmax, input_bw)),
                counted(offset_of!(rw_jetmax, flows)),
                None,
                port(offset_of!(rw_jetmax, fair)),
            ),
            KernelLaw::Noq => return None,
        };
        Some(Status {
            iface,
            law,
            is_measured: self.u32(offset_of!(State, is_measured)) == 1,
            capacity: rate(offset_of!(State, capacity)),
            packets: self.u64(offset_of!(State, packets)),
            bytes: Bytes::new(self.u64(offset_of!(State, bytes))),
            with_header: self.u64(offset_of!(State, with_header)),
            missed: self.u64(offset_of!(State, missed)),
            waiting: Bytes::new(self.u64(offset_of!(State, waiting))),
            input: Throughput::new(input as f64),
            flows,
            mean_rtt: mean_rtt_us.filter(|us| *us > 0).map(Duration::from_micros),
            says: Throughput::new(says.cast_signed() as f64),
            options: options(self, law),
            police: policed(self),
        })
    }
}

/// State of a port's policer; `None` if it has none.
pub(super) fn policed(state: &Pinned) -> Option<Policed> {
    let id = state.u32(offset_of!(State, suspects));
    let suspects = MapHandle::from_map_id((id != 0).then_some(id)?).ok()?;
    // Flows that come and go while the kernel walks the map may make it begin anew.
    let most = suspects.max_entries() as usize;
    Some(Policed {
        flows: suspects.keys().take(most).count() as u64,
        entries: state.u64(offset_of!(State, entries)),
        corrected: state.u64(offset_of!(State, corrected)),
        dropped: state.u64(offset_of!(State, dropped)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_the_first_packet_no_round_trip_is_known() {
        let mut state = vec![0; size_of::<State>()];
        for law in KernelLaw::OF_ROUTERS {
            let at = offset_of!(State, law);
            state[at..at + 4].copy_from_slice(&law.number().to_ne_bytes());
            let status = Pinned(state.clone()).status("eth1".to_string()).expect("a port's");
            assert_eq!((status.law, status.mean_rtt), (law, None));
        }
    }

    #[test]
    fn the_round_trip_is_what_packets_stated_not_what_the_law_goes_by() {
        let mut state = vec![0; size_of::<State>()];
        for (law, goes_by, stated, of_us) in [
            (KernelLaw::Xcp, offset_of!(rw_xcp, avg_rtt_us), offset_of!(rw_xcp, told_rtt_us), 1),
            (KernelLaw::Rcp, offset_of!(rw_rcp, rtt), offset_of!(rw_rcp, sample), 256),
            (KernelLaw::PiqiRcp, offset_of!(rw_rcp, rtt), offset_of!(rw_rcp, sample), 256),
        ] {
            let at = offset_of!(State, law);
            state[at..at + 4].copy_from_slice(&law.number().to_ne_bytes());
            for (field, us) in [(goes_by, 5000_u64), (stated, 300)] {
                let at = offset_of!(State, port) + field;
                state[at..at + 8].copy_from_slice(&(us * of_us).to_ne_bytes());
            }
            let status = Pinned(state.clone()).status("eth1".to_string()).expect("a port's");
            assert_eq!(status.mean_rtt, Some(Duration::from_micros(300)), "{law:?}");
        }
    }
}
