//! Members are killed while frames flow: no frame is lost, and each member gets its own in order.
//!
//! `RATEWIRE_FAULT_SEED` names the seed. The full scale, 200 deaths under a million frames:
//!
//! ```text
//! RATEWIRE_FAULT_DEATHS=200 RATEWIRE_FAULT_FRAMES=1000000 cargo test --release \
//!     -p ratewire-switch-cli --test program -- --nocapture members_die
//! ```

mod member;
mod records;
mod running;
mod wire;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_acp::{Config, Connection, Endpoint, Frame};
use ratewire_switch::key::KeyFile;
use ratewire_units::Bytes;
use records::{Exposed, Place, Records, content, number};
use running::{MEMBERS, ROLE, Running};
use tokio::task::{JoinHandle, LocalSet};
use wire::Harm;

use super::common::folder;

const CLIENTS: usize = 2;
/// Bytes that a client has on their way, at most, and frames: each has 64 bytes or more.
const SEND_BUFFER: u64 = 128 << 10;
const OUTSTANDING: u64 = SEND_BUFFER / 64 + 1;
/// Time after which a test has hung.
const HUNG: Duration = Duration::from_secs(1800);

#[test]
fn members_die_and_no_frame_is_lost_in_turn() {
    run(live_and_die("round-robin"));
}

#[test]
fn members_die_and_no_frame_is_lost_by_hash() {
    run(live_and_die("hash"));
}

/// Wires on which packets are lost, come twice, late or changed: each frame is at one member,
/// once.
#[test]
fn bad_wires_change_nothing() {
    run(over_bad_wires());
}

#[test]
#[ignore = "is the process of a member"]
fn a_member() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let role: Vec<&str> = role.split('\n').collect();
    let [folder, listen, member, life] = role[..] else { panic!("{role:?}") };
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let (config, folder) = (config(Path::new(folder)), PathBuf::from(folder));
    let listen = listen.parse().expect("an address");
    member::Member::new(config, folder, (number(member), number(life)), listen).run();
}

fn config(folder: &Path) -> Config {
    let credentials = KeyFile::read(&folder.join("switch.key")).expect("a key");
    Config { send_buffer: Bytes::new(SEND_BUFFER), ..Config::new(credentials) }
}

fn variable(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let work = async {
        let ended = tokio::time::timeout(HUNG, work).await;
        ended.expect("the run has hung");
    };
    LocalSet::new().block_on(&runtime.expect("a runtime"), work);
}

/// What clients and who kills their members share.
struct Traffic {
    /// Frames written, by client.
    written: [Cell<u64>; CLIENTS],
    /// Frames that all clients write, at least.
    frames: u64,
    /// The last life of each member that has answered, by client.
    heard: [[Cell<u32>; MEMBERS]; CLIENTS],
    /// Whether no more members die.
    is_over: Cell<bool>,
}

impl Traffic {
    fn new(frames: u64) -> Traffic {
        Traffic {
            written: Default::default(),
            frames,
            heard: Default::default(),
            is_over: Cell::new(false),
        }
    }

    fn total(&self) -> u64 {
        self.written.iter().map(Cell::get).sum()
    }

    /// Whether this life of a member has answered all clients.
    fn has_heard(&self, member: usize, life: u32) -> bool {
        self.heard.iter().all(|lives| lives[member].get() >= life)
    }
}

async fn over_bad_wires() {
    let (folder, harm) = (folder("switch-bad-wires"), Rc::new(Harm::default()));
    let running = Running::start(&folder, "hash", Some(&harm)).await;
    let traffic = Rc::new(Traffic::new(3000));
    let clients = start_clients(&folder, &running, &traffic).await;
    traffic.is_over.set(true);
    check(&folder, &running, &traffic, clients, &[]).await;
    println!("{harm:?}");
    for count in [&harm.lost, &harm.twice, &harm.late, &harm.changed] {
        assert!(count.get() > 10, "{harm:?}");
    }
}

type Clients = Vec<JoinHandle<BTreeMap<Place, Vec<u64>>>>;

async fn start_clients(folder: &Path, running: &Running, traffic: &Rc<Traffic>) -> Clients {
    let endpoint = Endpoint::client(([127, 0, 0, 1], 0).into(), config(folder)).expect("a socket");
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        let connection = endpoint.connect(running.switch()).await.expect("a connection");
        let traffic = Rc::clone(traffic);
        clients.push(tokio::task::spawn_local(talk(connection, client, traffic)));
    }
    clients
}

/// Checks what clients and members have got, when all clients have finished.
async fn check(
    folder: &Path,
    running: &Running,
    traffic: &Traffic,
    clients: Clients,
    exposed: &[Exposed],
) {
    let mut answers = Vec::new();
    for client in clients {
        answers.push(client.await.expect("the client's task"));
    }
    let records = Records::read(folder);
    let written: Vec<u64> = traffic.written.iter().map(Cell::get).collect();
    let seen = records.check(&running.lives, &written, exposed);
    for (client, answers) in answers.iter().enumerate() {
        records.check_answers(client as u64, answers, &running.lives);
    }
    println!("{written:?} frames written; {seen:?}");
    std::fs::remove_dir_all(folder).expect("the folder of the test");
}

async fn live_and_die(routing: &str) {
    let (seed, deaths) = (variable("RATEWIRE_FAULT_SEED", 1), variable("RATEWIRE_FAULT_DEATHS", 6));
    let frames = variable("RATEWIRE_FAULT_FRAMES", 1000 * deaths);
    println!("{routing}: seed {seed}, {deaths} deaths under {frames} frames");
    let folder = folder(&format!("switch-faults-{routing}"));
    let mut running = Running::start(&folder, routing, None).await;
    let traffic = Rc::new(Traffic::new(frames));
    let clients = start_clients(&folder, &running, &traffic).await;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut exposed = Vec::new();
    for death in 0..deaths {
        let step = frames / deaths;
        let at = death * step + random.next_u64() % step;
        while traffic.total() < at {
            tokio::task::yield_now().await;
        }
        let before: Vec<u64> = traffic.written.iter().map(Cell::get).collect();
        kill_some(&mut running, &traffic, &mut random).await;
        for (client, (before, now)) in before.iter().zip(&traffic.written).enumerate() {
            let from = before.saturating_sub(OUTSTANDING);
            exposed.push(Exposed { client: client as u64, from, until: now.get() });
        }
    }
    traffic.is_over.set(true);
    check(&folder, &running, &traffic, clients, &exposed).await;
}

/// Kills one or two members and starts them again, at once or when the switch calls them down, and
/// waits until they have answered all clients.
async fn kill_some(running: &mut Running, traffic: &Traffic, random: &mut Xoshiro256PlusPlus) {
    let first = random.next_u64() as usize % MEMBERS;
    let second = (first + 1) % MEMBERS;
    let killed =
        if random.next_u64().is_multiple_of(4) { vec![first, second] } else { vec![first] };
    let waits = random.next_u64().is_multiple_of(2);
    for member in &killed {
        running.kill(*member).await;
    }
    for member in killed {
        if waits {
            running.is_down(member).await;
        }
        running.restart(member);
        while !traffic.has_heard(member, running.lives[member]) {
            tokio::task::yield_now().await;
        }
    }
}

/// Sends frames until no more members die, and returns the answers by who gave them.
async fn talk(
    connection: Connection,
    client: usize,
    traffic: Rc<Traffic>,
) -> BTreeMap<Place, Vec<u64>> {
    let answers = RefCell::new(BTreeMap::<Place, Vec<u64>>::new());
    let send = async {
        let written = &traffic.written[client];
        while !traffic.is_over.get() || traffic.total() < traffic.frames {
            let number = number(client as u64, written.get());
            let frame = Frame::new(number, content(number));
            connection.send(frame).await.expect("the connection outlives its members");
            written.set(written.get() + 1);
            // The one who kills members has a turn between any two frames.
            tokio::task::yield_now().await;
        }
        connection.finish().expect("an endpoint");
    };
    let receive = async {
        while let Some(frame) = connection.receive().await.expect("a connection") {
            let (place, index) =
                (Place::of_bytes(&frame.data), frame.id - number(client as u64, 0));
            traffic.heard[client][place.member as usize].set(place.life);
            answers.borrow_mut().entry(place).or_default().push(index);
        }
    };
    tokio::join!(send, receive);
    connection.close().await.expect("all frames are acknowledged");
    answers.into_inner()
}
