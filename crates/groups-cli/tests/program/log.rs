//! What a daemon logs.

use std::net::TcpStream;

use super::common::folder;
use super::process::Daemon;

#[test]
fn connections_that_find_no_descriptor_are_logged() {
    let mut daemon = Daemon::start(&folder("groups-descriptors"), 0, 24);
    let _clients: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(&daemon.address).expect("the daemon listens")).collect();
    let failed = daemon.logged("cannot accept a connection");
    assert!(failed.contains("listener=\"clients\" reason=\"Too many open files"), "{failed}");
}
