//! Members of groups with a limit on how far one may lag.

use ratewire_groups::spread::{Change, Received};
use ratewire_overlay::membership::Service;

use super::client::{Client, group};
use super::overlay::{FREE, Overlay};
use super::slow::{LIMITS, SIZE, numbered};

pub const POLICY: &str = "[[group]]\nname = \"quick*\"\nlag = 10\n";

/// Sends messages, which one member reads and `slow` does not, until it has been cut off. Returns
/// the number of messages.
pub fn send_until_cut_off(overlay: &Overlay, slow: &Client) -> u64 {
    let (mut sender, mut fast) = (overlay.quiet("sender", "localhost"), overlay.local("fast"));
    fast.enter("quick1");
    let most = 2 * slow.stream.send_buffer() / SIZE + 100;
    for i in 0..most as u64 {
        sender.send(&numbered(Service::Agreed, "quick1", i));
        match fast.receive() {
            Received::Message { message, .. } => {
                assert_eq!(message.data[..8], i.to_be_bytes(), "the fast one gets all");
            }
            Received::Membership(membership) => {
                assert_eq!(membership.change, Change::Disconnect(slow.name));
                assert_eq!(membership.members, [fast.name]);
                assert_eq!(fast.message().1.data[..8], i.to_be_bytes());
                sender.say(Service::Agreed, &["quick1"], "last");
                assert_eq!(fast.text(), "last");
                return i + 1;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("{most} messages were sent to a member that does not read");
}

/// What a member gets that was cut off: messages from the first on, and then notices.
fn rest(slow: &mut Client, sent: u64) -> Vec<Received> {
    let mut next = 0u64;
    let mut notices = Vec::new();
    while let Some(received) = slow.next() {
        match received {
            Received::Message { message, .. } => {
                assert_eq!(message.data[..8], next.to_be_bytes());
                assert_eq!(notices, [], "no message comes after the notices");
                next += 1;
            }
            // That the fast one has joined.
            Received::Membership(_) => assert_eq!(next, 0),
            notice => notices.push(notice),
        }
    }
    assert!(0 < next && next < sent, "{next} of {sent} messages have come");
    notices
}

#[test]
fn a_member_that_lags_is_told_and_cut_off_and_others_get_all() {
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}{POLICY}"));
    let mut slow = overlay.local("slow");
    slow.enter("quick1");
    slow.enter("other");
    let sent = send_until_cut_off(&overlay, &slow);
    let left = ["other", "quick1"].map(|name| Received::Left(group(name)));
    assert_eq!(rest(&mut slow, sent), left);
    overlay.local("slow").enter("quick1");
}

#[test]
fn a_member_that_wants_no_notices_is_cut_off_without() {
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}{POLICY}"));
    let mut slow = overlay.quiet("slow", "localhost");
    slow.join("quick1");
    slow.assert_nothing_more();
    let sent = send_until_cut_off(&overlay, &slow);
    assert_eq!(rest(&mut slow, sent), []);
}

#[test]
fn a_member_that_lags_for_too_long_is_cut_off() {
    let policy = "[[group]]\nname = \"quick\"\nlag-time = \"100 ms\"\n";
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}{policy}"));
    let mut slow = overlay.local("slow");
    slow.enter("quick");
    let (mut sender, mut fast) = (overlay.quiet("sender", "localhost"), overlay.local("fast"));
    fast.enter("quick");
    for i in 0.. {
        sender.send(&numbered(Service::Agreed, "quick", i));
        match fast.receive() {
            Received::Message { message, .. } => assert_eq!(message.data[..8], i.to_be_bytes()),
            Received::Membership(membership) => {
                assert_eq!(membership.change, Change::Disconnect(slow.name));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(rest(&mut slow, u64::MAX), [Received::Left(group("quick"))]);
}
