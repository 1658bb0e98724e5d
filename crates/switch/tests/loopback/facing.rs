//! Two switches that face each other: members of two ensembles, and one connection between these.

use ratewire_acp::channel::CloseReason;
use ratewire_acp::{Connection, Error};

use super::*;

/// A member that writes frames, each with the member's number and its own.
#[derive(Clone)]
struct Writer {
    endpoint: Endpoint,
    /// Numbers of the members and frames that it has read.
    read: Rc<RefCell<Vec<[u8; 2]>>>,
    /// How its connections have ended.
    ends: Rc<RefCell<Vec<Result<(), Error>>>>,
}

const FRAMES: u8 = 60;

impl Writer {
    /// A member that writes to each connection, and then ends its stream if it `finishes`.
    fn new(number: u8, finishes: bool) -> Writer {
        let endpoint = Endpoint::server(local(), config()).expect("a server");
        let writer = Writer { endpoint, read: Rc::default(), ends: Rc::default() };
        let own = writer.clone();
        tokio::task::spawn_local(async move {
            while let Ok(connection) = own.endpoint.accept().await {
                let own = own.clone();
                tokio::task::spawn_local(async move {
                    let end = own.work(connection, number, finishes).await;
                    own.ends.borrow_mut().push(end);
                });
            }
        });
        writer
    }

    async fn work(&self, connection: Connection, number: u8, finishes: bool) -> Result<(), Error> {
        for frame in 0..FRAMES {
            connection.send(Frame::new(u64::from(frame), data(number, frame))).await?;
        }
        if finishes {
            connection.finish()?;
        }
        while let Some(frame) = connection.receive().await? {
            let head = [frame.data[0], frame.data[1]];
            assert!(frame.data == data(head[0], head[1]), "a frame is torn");
            self.read.borrow_mut().push(head);
        }
        connection.close().await
    }

    fn address(&self) -> SocketAddr {
        self.endpoint.address()
    }
}

/// A member's frame: some take many packets, and some share one.
fn data(number: u8, frame: u8) -> Vec<u8> {
    let mut data = vec![number, frame];
    data.resize(if frame.is_multiple_of(2) { 5000 } else { 20 }, number);
    data
}

fn addresses(writers: &[Writer]) -> Vec<SocketAddr> {
    writers.iter().map(Writer::address).collect()
}

/// What members have read, sorted.
fn read(writers: &[Writer]) -> Vec<[u8; 2]> {
    let mut all: Vec<[u8; 2]> = writers.iter().flat_map(|w| w.read.borrow().clone()).collect();
    all.sort_unstable();
    all
}

fn written(numbers: std::ops::Range<u8>) -> Vec<[u8; 2]> {
    numbers.flat_map(|number| (0..FRAMES).map(move |frame| [number, frame])).collect()
}

async fn until(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A switch whose members are all there: on a busy machine they are long in answering.
fn patient(members: &[SocketAddr]) -> HubConfig {
    let mut config = hub(members);
    config.patience = Duration::from_secs(60);
    config.session.silence = ratewire_units::Duration::from_secs(60);
    config
}

/// Each frame reaches one member of the other ensemble, and the end goes all the way round.
#[tokio::test(flavor = "current_thread")]
async fn members_of_both_send_to_those_of_the_other() {
    let work = async {
        let left: Vec<Writer> = (0..3).map(|k| Writer::new(k, true)).collect();
        let right: Vec<Writer> = (3..5).map(|k| Writer::new(k, true)).collect();
        let (waits, _) = start(patient(&addresses(&right)));
        let peer = Some(waits.address());
        let (dials, events) = start(HubConfig { peer, ..patient(&addresses(&left)) });
        until(|| left.iter().chain(&right).all(|writer| !writer.ends.borrow().is_empty())).await;
        assert_eq!((read(&right), read(&left)), (written(0..3), written(3..5)));
        let each = |all: &[Writer]| all.iter().map(|w| w.read.borrow().len()).collect::<Vec<_>>();
        assert_eq!((each(&right), each(&left)), (vec![90; 2], vec![40; 3]));
        for writer in left.iter().chain(&right) {
            assert!(writer.ends.borrow().iter().all(Result::is_ok), "{:?}", writer.ends);
        }
        // The switch connects again, for what members may have to say later.
        let is_connected = |event: &&HubEvent| matches!(event, HubEvent::PeerConnected(_));
        until(|| events.borrow().iter().filter(is_connected).count() == 2).await;
        let done = HubEvent::PeerGone(waits.address(), CloseReason::Done);
        assert!(events.borrow().contains(&done), "{events:?}");
        assert_eq!(dials.look(|hub| hub.dialled()), Some((waits.address(), true)));
    };
    in_time(LocalSet::new().run_until(work)).await;
}

/// A switch among the members merges for the far one, too: it keeps frames whole.
#[tokio::test(flavor = "current_thread")]
async fn a_switch_may_be_a_member_of_one_that_faces_another() {
    let work = async {
        let left: Vec<Writer> = (0..3).map(|k| Writer::new(k, true)).collect();
        let right: Vec<Writer> = (3..5).map(|k| Writer::new(k, true)).collect();
        let (waits, _) = start(patient(&addresses(&right)));
        let (inner, _) = start(patient(&addresses(&left[..2])));
        let peer = Some(waits.address());
        let members = [inner.address(), left[2].address()];
        let (_dials, _) = start(HubConfig { peer, ..patient(&members) });
        until(|| left.iter().chain(&right).all(|writer| !writer.ends.borrow().is_empty())).await;
        assert_eq!((read(&right), read(&left)), (written(0..3), written(3..5)));
        let each: Vec<usize> = left.iter().map(|writer| writer.read.borrow().len()).collect();
        assert_eq!(each, [30, 30, 60]);
    };
    in_time(LocalSet::new().run_until(work)).await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_peer_that_comes_late_or_again_is_found() {
    let work = async {
        let (left, right) = ([Writer::new(0, false)], [Writer::new(1, false)]);
        let free = std::net::UdpSocket::bind(local()).expect("a free address");
        let address = free.local_addr().expect("an address");
        drop(free);
        let peer = Some(address);
        let (dials, events) = start(HubConfig { peer, ..hub(&addresses(&left)) });
        for round in 1..=2 {
            let config = hub(&addresses(&right));
            let waits = Running::open(address, local(), config).expect("a switch");
            // Without a farewell, as a process that is killed.
            let over = waits.run(std::future::pending(), Duration::ZERO, |_| {});
            let heard = |all: &[Writer]| read(all).len() >= round * usize::from(FRAMES);
            let served = until(|| heard(&left) && heard(&right));
            tokio::select! {
                ended = over => panic!("{ended:?}"),
                () = served => {}
            }
        }
        let gone = HubEvent::PeerGone(address, CloseReason::Forgotten);
        assert!(events.borrow().contains(&gone), "{events:?}");
        drop(dials);
    };
    in_time(LocalSet::new().run_until(work)).await;
}
