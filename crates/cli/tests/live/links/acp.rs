//! ACP's connections beside TCP's.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use ratewire_acp::{Config, Credentials, Endpoint, Frame, Metrics};
use ratewire_laws::AnyLaw;
use serde_json::Value;

use crate::lab::{LINK, Lab, repeated_if};

const SERVER: &str = "10.7.2.2:4816";

/// Holds each packet that is routed to the interface `wire` for 20 ms, and lets it go on its way.
const WIRE: &str = r#"import collections, fcntl, os, select, struct, time
tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
fcntl.ioctl(tun, 0x400454ca, struct.pack("16sH", b"wire", 0x1001))
print("ready", flush=True)
held = collections.deque()
while True:
    wait = max(0, held[0][0] - time.monotonic()) if held else None
    select.select([tun], [], [], wait)
    now = time.monotonic()
    try:
        while True: held.append((now + 0.02, os.read(tun, 2048)))
    except (BlockingIOError, OSError): pass
    while held and held[0][0] <= now: os.write(tun, held.popleft()[1])"#;

/// A delay of what the receiver sends back, with which a window has many packets. In the
/// laboratory's own round trip, 0.3 ms, it has one or two.
struct Delay(Child);

impl Delay {
    fn build(lab: &Lab) -> Delay {
        let mut wire = lab.at("r", "python3");
        let mut wire =
            wire.args(["-c", WIRE]).stdout(Stdio::piped()).spawn().expect("python3 starts");
        let mut lines = BufReader::new(wire.stdout.take().expect("a pipe")).lines();
        assert_eq!(lines.next().and_then(Result::ok).as_deref(), Some("ready"));
        let r = lab.netns("r");
        lab.sh(&format!(
            "ip -n {r} link set wire up; ip -n {r} rule add iif right lookup 100
             ip -n {r} route add default dev wire table 100
             nsenter --net=/var/run/netns/{r} sysctl -qw net.ipv4.conf.all.rp_filter=0 \
                 net.ipv4.conf.wire.rp_filter=0"
        ));
        Delay(wire)
    }
}

impl Drop for Delay {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A connection of ACP through the laboratory, which sends until it is stopped.
struct Connection {
    received: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    ends: [JoinHandle<Option<Metrics>>; 2],
}

impl Connection {
    fn open(lab: &Lab, law: &str) -> Connection {
        let config = Config {
            law: AnyLaw::new(law, &[]).expect("a law"),
            law_name: law.to_string(),
            ..Config::new(Credentials::Shared([7; 32]))
        };
        let received = Arc::new(AtomicU64::new(0));
        let is_over = Arc::new(AtomicBool::new(false));
        let (of_server, counter) = (config.clone(), Arc::clone(&received));
        let server = at(lab, "d", async move || {
            let address = SERVER.parse().expect("an address");
            let endpoint = Endpoint::server(address, of_server).expect("a server");
            let connection = endpoint.accept().await.expect("a connection");
            while let Some(frame) = connection.receive().await.expect("frames") {
                counter.fetch_add(frame.data.len() as u64, Ordering::Relaxed);
            }
            connection.close().await.expect("it ends");
            None
        });
        let over = Arc::clone(&is_over);
        let client = at(lab, "s", async move || {
            let any = "10.7.1.1:0".parse().expect("an address");
            let endpoint = Endpoint::client(any, config).expect("a client");
            let server = SERVER.parse().expect("an address");
            let connection = endpoint.connect(server).await.expect("a server");
            let data = bytes::Bytes::from(vec![1; 256 << 10]);
            for id in 0.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                connection.send(Frame::new(id, data.clone())).await.expect("it is sent");
            }
            let metrics = connection.metrics().expect("figures");
            connection.finish().expect("it is open");
            while connection.receive().await.expect("it ends").is_some() {}
            Some(metrics)
        });
        Connection { received, is_over, ends: [server, client] }
    }

    /// Bytes in frames that have arrived.
    fn received(&self) -> f64 {
        self.received.load(Ordering::Relaxed) as f64
    }

    /// Stops the sender; returns its figures.
    fn stop(self) -> Metrics {
        self.is_over.store(true, Ordering::Relaxed);
        let [server, client] = self.ends.map(|end| end.join().expect("it ends well"));
        server.or(client).expect("a client's")
    }
}

/// Does something in a thread at one of the ends.
fn at<T: Send + 'static>(
    lab: &Lab,
    end: &str,
    act: impl AsyncFnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let netns = File::open(format!("/var/run/netns/{}", lab.netns(end))).expect("a namespace");
    std::thread::spawn(move || {
        setns(netns, CloneFlags::CLONE_NEWNET).expect("root may");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(act())
    })
}

/// Goodputs of a flow of each, in bit/s.
#[derive(Debug)]
struct Goodputs {
    tcp: f64,
    acp: f64,
}

impl Goodputs {
    /// Over the same seconds.
    fn of(lab: &Lab, law: &str) -> (Goodputs, Metrics) {
        let connection = Connection::open(lab, law);
        let mut server = lab.start("d", true, "iperf3 -s -1 -p 5201");
        sleep(Duration::from_millis(500));
        let client = lab.start("s", true, "iperf3 -J -c 10.7.2.2 -p 5201 -t 7 -O 1");
        sleep(Duration::from_secs(1));
        let (began, before) = (Instant::now(), connection.received());
        let done = client.wait_with_output().expect("iperf3 ends");
        let acp = 8.0 * (connection.received() - before) / began.elapsed().as_secs_f64();
        server.wait().expect("so does the server");
        let metrics = connection.stop();
        let report: Value = serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON");
        let tcp = report["end"]["sum_received"]["bits_per_second"].as_f64();
        let tcp = tcp.unwrap_or_else(|| panic!("{}", report["error"]));
        (Goodputs { tcp, acp }, metrics)
    }

    /// Distance of either from an equal share.
    fn unfairness(&self) -> f64 {
        ((self.tcp - self.acp) / (self.tcp + self.acp)).abs()
    }
}

#[test]
fn a_connection_of_acp_and_one_of_tcp_share_a_link() {
    let Some(lab) = Lab::build("acp") else { return };
    let _delay = Delay::build(&lab);
    for (law, of_acp) in
        [("xcp", "xcp"), ("rcp", "rcp"), ("piqi-rcp", "piqi-rcp"), ("jetmax", "jetmax@kernel")]
    {
        let trial = || {
            lab.attach(law);
            let drops = lab.queue().drops;
            let (goodputs, metrics) = Goodputs::of(&lab, of_acp);
            let drops = lab.queue().drops - drops;
            let said = lab.status("r");
            lab.live(&["detach"]);
            (goodputs, metrics, drops, said)
        };
        // Packets that no link dropped were lost at a host whose program was late for them. Their
        // sender slows down, which says nothing of the law.
        let is_disturbed =
            |tried: &(_, Metrics, u64, _)| tried.2 == 0 && tried.1.packets_retransmitted > 5;
        // PIQI-RCP and JetMax leave 5 % of the link; headers are 7 % of ACP's packets.
        let fills = |goodputs: &Goodputs| goodputs.tcp + goodputs.acp > 0.8 * LINK;
        let is_good = |tried: &(Goodputs, _, _, _)| tried.0.unfairness() < 0.1 && fills(&tried.0);
        let (goodputs, metrics, drops, said) = repeated_if(is_disturbed, trial, is_good);
        let seen = format!("{law}: {goodputs:?}, {drops} drops\n{metrics:?}\n{said}");
        println!("{seen}");
        assert!(goodputs.unfairness() < 0.1 && fills(&goodputs), "{seen}");
        let router = &said["routers"][0];
        let count = |name: &str| router[name].as_f64().expect("a count");
        // All packets except acknowledgements of ACP's handshake, neighbour discovery and the like.
        assert!(count("with_header") > 0.99 * count("packets"), "{seen}");
    }
}
