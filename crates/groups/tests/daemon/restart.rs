//! Daemons that stop and start again, and what members elsewhere are told.

use ratewire_groups::spread::{Change, Membership, PrivateName};
use ratewire_overlay::membership::Service;

use super::client::Client;
use super::several::{LINE, MESH, Three, meet};

/// The sets of members in a change of the network, and the index of the receiver's own.
fn sets(membership: &Membership) -> (Vec<Vec<PrivateName>>, usize) {
    match &membership.change {
        Change::Network { sets, own } => (sets.clone(), *own),
        other => panic!("{other:?} is no change of the network"),
    }
}

fn talk(clients: &mut [&mut Client], text: &str) {
    clients[0].say(Service::Safe, &["chat"], text.to_string());
    clients.iter_mut().for_each(|client| assert_eq!(client.text(), text));
}

/// Waits until a client's group has these members, and returns how the last has gone: its daemon
/// disconnects its clients before it ends. A network that takes long to carry this has lost the
/// daemon by then.
fn until_gone(client: &mut Client, members: &[PrivateName]) -> Change {
    let told = client.until_members("chat", members);
    assert!(matches!(told.change, Change::Disconnect(_) | Change::Network { .. }), "{told:?}");
    told.change
}

#[test]
fn a_daemon_that_stops_ends_its_clients_and_comes_back() {
    let Three { overlay, mut daemons, clients } = Three::new("", MESH);
    let [mut a, mut b, mut c] = clients;
    daemons.pop().unwrap().stop();
    while c.next().is_some() {}
    let rest = [a.name, b.name];
    for client in [&mut a, &mut b] {
        if let Change::Disconnect(gone) = until_gone(client, &rest) {
            assert_eq!(gone, c.name);
        }
    }
    talk(&mut [&mut a, &mut b], "without c");
    let again = overlay.start("c");
    let mut c = overlay.client("again", "c");
    c.join("chat");
    meet(&mut [&mut a, &mut b, &mut c]);
    talk(&mut [&mut c, &mut a, &mut b], "with c");
    again.stop();
}

#[test]
fn a_middle_that_stops_parts_the_network_and_joins_it_again() {
    let Three { overlay, mut daemons, clients } = Three::new("", LINE);
    let [mut a, b, mut c] = clients;
    daemons.remove(1).stop();
    drop(b);
    // Its clients have disconnected, then the daemons at the ends have lost each other.
    for client in [&mut a, &mut c] {
        let own = [client.name];
        let alone = client.until_members("chat", &own);
        assert_eq!(sets(&alone), (vec![own.to_vec()], 0));
        client.say(Service::Safe, &["chat"], "alone");
        assert_eq!(client.text(), "alone");
    }
    let _again = overlay.start("b");
    let both = [a.name, c.name];
    let merged = [&mut a, &mut c].map(|client| client.until_members("chat", &both));
    assert_eq!(merged[0].id, merged[1].id);
    assert_eq!(merged[0].members, merged[1].members);
    let each = vec![vec![both[0]], vec![both[1]]];
    assert_eq!(sets(&merged[0]), (each.clone(), 0));
    assert_eq!(sets(&merged[1]), (each, 1));
    talk(&mut [&mut a, &mut c], "together");
    talk(&mut [&mut c, &mut a], "again");
}
