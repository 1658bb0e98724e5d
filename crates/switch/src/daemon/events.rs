//! What happens in a switch, as its log has it.

use ratewire_daemon::log::{Throttle, reason};
use tracing::{info, warn};

use crate::hub::HubEvent;
use crate::running::Running;

/// Logs an event. Packets that were not made with the key are logged as `strangers` admits: anybody
/// can send them.
pub(super) fn note(running: &Running, strangers: &Throttle, event: HubEvent) {
    // A member that has gone since has no name any more, and its end was logged.
    let name = |place| running.look(|hub| hub.member(place).map(|member| member.name.clone()));
    match event {
        HubEvent::PeerConnected(address) => {
            let peer = address.to_string();
            info!(target: "ratewire_switch", peer, "peer connected");
        }
        HubEvent::PeerGone(address, why) => {
            let (peer, reason) = (address.to_string(), reason(&why));
            info!(target: "ratewire_switch", peer, reason, "peer gone");
        }
        HubEvent::PeerSilent(address) => {
            let peer = address.to_string();
            let reason = "it does not run there, or has another key";
            warn!(target: "ratewire_switch", peer, reason, "the peer has not answered a handshake");
        }
        HubEvent::MemberUp(place) => {
            let member = name(place);
            info!(target: "ratewire_switch", member, "member up");
        }
        HubEvent::MemberDown(place, reason) => {
            let member = name(place);
            warn!(target: "ratewire_switch", member, reason, "member down");
        }
        HubEvent::MemberRefuses(place, reason) => {
            let member = name(place);
            warn!(target: "ratewire_switch", member, reason, "member refuses a peer");
        }
        HubEvent::MemberDrained(member) => {
            info!(target: "ratewire_switch", member, "member drained");
        }
        HubEvent::Stranger(address) => {
            if let Some(left_out) = strangers.admit(running.now()) {
                let peer = address.to_string();
                warn!(target: "ratewire_switch", peer, left_out, "a peer has another key");
            }
        }
    }
}
