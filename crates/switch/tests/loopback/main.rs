//! A switch with real sockets, a client and servers of the ACP library.

mod example;
mod facing;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use ratewire_acp::{Config, Credentials, Endpoint, Frame};
use ratewire_anypoint::routing::RoundRobin;
use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_switch::Running;
use ratewire_switch::hub::{Health, HubConfig, HubEvent, Member, Told};
use ratewire_switch::session::SessionConfig;
use tokio::task::LocalSet;

fn credentials() -> Credentials {
    Credentials::Shared([7; 32])
}

fn config() -> Config {
    Config::new(credentials())
}

fn local() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn hub(members: &[SocketAddr]) -> HubConfig {
    let member =
        |(k, address): (usize, &SocketAddr)| Member::new(&format!("m{k}"), *address, credentials());
    HubConfig {
        peers: config(),
        peer: None,
        session: SessionConfig {
            acp: config(),
            flow_control: FlowControl::Strict,
            transforms: Transforms::Refusals { shuffle: 0.1 },
            silence: ratewire_units::Duration::from_millis(500),
        },
        members: members.iter().enumerate().map(member).collect(),
        spare: 0,
        routing: Box::new(|| Box::new(RoundRobin::default())),
        told: Told::default(),
        patience: Duration::from_millis(500),
    }
}

/// A server that answers each frame with its own number and the frame's data.
fn serve(address: SocketAddr, number: u8) -> Endpoint {
    let endpoint = Endpoint::server(address, config()).expect("a server");
    let accepting = endpoint.clone();
    tokio::task::spawn_local(async move {
        while let Ok(connection) = accepting.accept().await {
            tokio::task::spawn_local(async move {
                while let Ok(Some(frame)) = connection.receive().await {
                    let mut data = vec![number];
                    data.extend(&frame.data);
                    if connection.send(Frame::new(frame.id, data)).await.is_err() {
                        return;
                    }
                }
                _ = connection.close().await;
            });
        }
    });
    endpoint
}

fn start(config: HubConfig) -> (Rc<Running>, Rc<RefCell<Vec<HubEvent>>>) {
    let running = Rc::new(Running::open(local(), local(), config).expect("a switch"));
    let events = Rc::new(RefCell::new(Vec::new()));
    let (switch, notes) = (Rc::clone(&running), Rc::clone(&events));
    tokio::task::spawn_local(async move {
        let note = |event| notes.borrow_mut().push(event);
        switch.run(std::future::pending(), Duration::ZERO, note).await.expect("sockets");
    });
    (running, events)
}

async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), what).await.expect("an end")
}

#[tokio::test(flavor = "current_thread")]
async fn frames_go_to_all_servers_and_answers_come_back() {
    let work = async {
        let servers: Vec<Endpoint> = (0..4).map(|k| serve(local(), k)).collect();
        let addresses: Vec<SocketAddr> = servers.iter().map(Endpoint::address).collect();
        let (switch, events) = start(hub(&addresses));
        let client = Endpoint::client(local(), config()).expect("a client");
        let connection = client.connect(switch.address()).await.expect("a connection");
        for id in 0..100 {
            connection.send(Frame::new(id, vec![id as u8; 3000])).await.expect("room");
        }
        let mut by = [0; 4];
        for _ in 0..100 {
            let frame = connection.receive().await.expect("an answer").expect("an answer");
            assert_eq!(frame.data[1..], vec![frame.id as u8; 3000]);
            by[usize::from(frame.data[0])] += 1;
        }
        assert_eq!(by, [25; 4]);
        connection.close().await.expect("all is sent");
        while switch.look(|hub| hub.sessions()) > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let counts = switch.look(|hub| hub.counts());
        assert!(counts.frames_in >= 100 && counts.frames_out >= 100);
        assert!(matches!(events.borrow().last(), Some(HubEvent::PeerGone(..))));
    };
    in_time(LocalSet::new().run_until(work)).await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_is_not_there_is_done_without_until_it_comes() {
    let work = async {
        let server = serve(local(), 0);
        let missing = std::net::UdpSocket::bind(local()).expect("a free address");
        let address = missing.local_addr().expect("an address");
        drop(missing);
        let (switch, events) = start(hub(&[server.address(), address]));
        let client = Endpoint::client(local(), config()).expect("a client");
        let connection = client.connect(switch.address()).await.expect("a connection");
        let ask = async |id| {
            connection.send(Frame::new(id, "?")).await.expect("room");
            connection.receive().await.expect("an answer").expect("an answer").data[0]
        };
        for id in 0..10 {
            assert_eq!(ask(id).await, 0);
        }
        assert!(switch.look(|hub| {
            hub.members().any(|member| matches!(member.health, Health::Down { .. }))
        }));
        let late = serve(address, 1);
        let mut id = 10;
        while ask(id).await == 0 {
            id += 1;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(events.borrow().iter().any(|event| matches!(event, HubEvent::MemberUp(1))));
        drop(late);
    };
    in_time(LocalSet::new().run_until(work)).await;
}
