//! What happens in a switch, as its log has it.

use ratewire_daemon::log::reason;
use tracing::{info, warn};

use crate::hub::{Hub, HubEvent};

/// Logs an event.
pub(super) fn note(hub: &Hub, event: HubEvent) {
    // A member that has gone since has no name any more, and its end was logged.
    let name = |place| hub.member(place).map(|member| member.name.clone());
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
        HubEvent::MemberDrained(place) => {
            // A place without a member is drained, too, when the switch ends.
            if let Some(member) = name(place) {
                info!(target: "ratewire_switch", member, "member drained");
            }
        }
    }
}
