//! Flows: kernel connections between hosts, with the writes of the scenario's applications.

mod asking;
mod io_context;
mod reactor;
mod receiving;
mod sender_info;
mod sending;

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::RcvBufForce;
use ratewire_sim::setup::{FlowSpec, Setup};
use ratewire_transport::Writer;
use ratewire_units::{Bytes, Duration, Time};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};

pub(crate) use self::asking::{Answer, Answers, Asking};
use self::reactor::Reactor;
use self::receiving::Receiving;
pub(crate) use self::sender_info::SenderInfo;
use self::sending::Sending;
use crate::Error;
use crate::acp::AcpFlow;
use crate::clock::Clock;
use crate::host::Host;
use crate::ports::port;
use crate::sys;

/// Most bytes written or read before other flows have their turn.
const CHUNK: usize = 1 << 16;
/// Limit for a flow that is to stop, for one write and for data that waits to be sent, so that
/// little is left when it stops.
const SMALL_CHUNK: usize = 1 << 14;
/// A larger receive window is left to the kernel.
const LARGEST_FIXED: Bytes = Bytes::new(1 << 30);

/// The sockets of a flow's two ends, opened and not yet connected.
#[derive(Debug)]
pub(crate) struct FlowSockets {
    sender: Socket,
    listener: TcpListener,
    to: SocketAddrV4,
}

/// Flows in operation, in the order of the scenario; `None` for one that a program makes.
#[derive(Debug)]
pub(crate) struct Flows {
    all: Vec<Option<Flow>>,
    thread: Option<JoinHandle<io::Result<()>>>,
    end: EventFd,
    over: Arc<AtomicBool>,
}

/// A flow in operation.
#[derive(Clone, Debug)]
pub(crate) enum Flow {
    /// A connection of kernels.
    Kernel(Arc<FlowStatus>),
    /// A part of a connection of ACP.
    Acp(Arc<AcpFlow>),
}

/// Reports of a flow's two applications.
#[derive(Debug, Default)]
pub(crate) struct FlowStatus {
    /// Payload that the receiving application has read.
    read: AtomicU64,
    /// Start of the sender; zero before.
    started: AtomicU64,
    /// Time at which the receiver had read everything; zero before.
    completed: AtomicU64,
    sender: OnceLock<TcpStream>,
    receiver: OnceLock<TcpStream>,
    failed: OnceLock<String>,
}

/// What an application waits for after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Its next turn.
    Again,
    /// Its socket.
    Ready,
    /// A time.
    At(Time),
    /// Nothing: the application has finished.
    Over,
}

impl FlowSockets {
    /// Opens both ends of the n-th flow, each at its host. Sockets belong to the process's control
    /// group at this moment.
    pub(crate) fn open(
        n: usize,
        spec: &FlowSpec,
        from: &Host,
        to: &Host,
        control: Option<&'static str>,
    ) -> Result<FlowSockets, Error> {
        let cannot = |e: io::Error| {
            let help =
                "/proc/sys/net/ipv4/tcp_available_congestion_control lists what this kernel has";
            Error::new(format!("cannot open the flow {:?}", spec.name), help).because(e)
        };
        let port = port(n).ok_or_else(|| cannot(io::Error::other("there are no more ports")))?;
        let address = SocketAddrV4::new(to.spec.address, port);
        let buffer = spec.transport.receive_window.buffer();
        let stops = spec.stop.is_some() || matches!(spec.app.writer, Writer::Phases(_));
        let sender = from.run(move || -> io::Result<Socket> {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
            if stops {
                socket.set_tcp_notsent_lowat(SMALL_CHUNK as u32)?;
            }
            if let Some(control) = control {
                socket.set_tcp_congestion(control.as_bytes()).map_err(|e| {
                    io::Error::other(format!("the congestion control {control}: {e}"))
                })?;
            }
            Ok(socket)
        })?;
        let is_fixed = matches!(
            spec.transport.receive_window,
            ratewire_transport::ReceiveWindow::Fixed(size) if size < LARGEST_FIXED
        );
        let listener = to.run(move || -> io::Result<TcpListener> {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
            if is_fixed {
                setsockopt(&socket, RcvBufForce, &(buffer.get() as usize))?;
            }
            socket.bind(&SockAddr::from(address))?;
            socket.listen(1)?;
            Ok(socket.into())
        })?;
        Ok(FlowSockets {
            sender: sender.map_err(cannot)?,
            listener: listener.map_err(cannot)?,
            to: address,
        })
    }
}

impl Flows {
    /// Lets the ends of each flow do what the scenario says, from its start on.
    pub(crate) fn start(
        ends: Vec<Option<FlowSockets>>,
        acp: &BTreeMap<usize, Arc<AcpFlow>>,
        setup: &Setup,
        clock: Clock,
    ) -> Result<Flows, Error> {
        let cannot = |e: io::Error| {
            let help =
                "`ulimit -n` says how many descriptors this process may have; a flow takes two";
            Error::new("cannot run the flows' applications", help).because(e)
        };
        let end = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK);
        let end = end.map_err(|e| cannot(e.into()))?;
        let over = Arc::new(AtomicBool::new(false));
        let mut reactor = Reactor::new(clock, &end, over.clone()).map_err(cannot)?;
        let mut all = Vec::with_capacity(setup.flows.len());
        for (n, (ends, spec)) in ends.into_iter().zip(&setup.flows).enumerate() {
            let Some(FlowSockets { sender, listener, to }) = ends else {
                all.push(acp.get(&n).map(|flow| Flow::Acp(Arc::clone(flow))));
                continue;
            };
            let status = Arc::new(FlowStatus::default());
            let payload = spec.transport.packet.saturating_sub(spec.transport.headers);
            let frame = spec.app.frame.unwrap_or(payload);
            let sending = Sending::new(status.clone(), sender, to, spec, (frame, setup.seed));
            let receiving = Receiving::new(status.clone(), listener, spec, frame);
            reactor.add(sending, receiving).map_err(cannot)?;
            all.push(Some(Flow::Kernel(status)));
        }
        let thread = thread::Builder::new().name("flows".into()).spawn(move || reactor.run());
        Ok(Flows { all, thread: Some(thread.map_err(cannot)?), end, over })
    }

    /// All flows, in the order of the scenario.
    pub(crate) fn all(&self) -> &[Option<Flow>] {
        &self.all
    }

    /// Ends all flows now; returns an error that kept their applications from running.
    pub(crate) fn end(mut self) -> Result<(), Error> {
        self.stop().map_err(|e| Error::new("the flows' applications stopped", "").because(e))
    }

    fn stop(&mut self) -> io::Result<()> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        self.over.store(true, SeqCst);
        self.end.write(1)?;
        let ran = thread.join().map_err(|_| io::Error::other("their thread panicked"));
        let statuses = self.all.iter().flatten().filter_map(|flow| match flow {
            Flow::Kernel(status) => Some(status),
            Flow::Acp(_) => None,
        });
        for status in statuses {
            let streams = [status.sender.get(), status.receiver.get()];
            for stream in streams.into_iter().flatten() {
                // Unsent data is not waited for: it would keep the host's namespace alive.
                let _ = SockRef::from(stream).set_linger(Some(std::time::Duration::ZERO));
            }
        }
        ran?
    }
}

impl Drop for Flows {
    fn drop(&mut self) {
        // A run that has failed reports why itself.
        let _ = self.stop();
    }
}

impl Flow {
    /// Whether the flow is a part of a connection of ACP, whose ends know what has arrived.
    pub(crate) fn is_acp(&self) -> bool {
        matches!(self, Flow::Acp(_))
    }

    /// Payload that the receiving host has got: of kernels, in order.
    pub(crate) fn delivered(&self) -> Bytes {
        let status = match self {
            Flow::Kernel(status) => status,
            Flow::Acp(flow) => return flow.delivered(),
        };
        let read = Bytes::new(status.read.load(Relaxed));
        if self.completed().is_some() {
            return read;
        }
        let receiver = status.receiver.get().and_then(|stream| sys::tcp_info(stream).ok());
        receiver.map_or(read, |info| Bytes::new(info.bytes_received).max(read))
    }

    /// The sender's facts; `None` before there is a connection, and of a switch.
    pub(crate) fn info(&self) -> Option<SenderInfo> {
        match self {
            Flow::Kernel(status) => {
                let stream = status.sender.get()?;
                sys::tcp_info(stream).ok().map(|info| SenderInfo::of_kernel(&info))
            }
            Flow::Acp(flow) => flow.sender().map(|figures| SenderInfo::of_acp(&figures)),
        }
    }

    pub(crate) fn started(&self) -> Option<Time> {
        match self {
            Flow::Kernel(status) => instant(&status.started),
            Flow::Acp(flow) => flow.started(),
        }
    }
    pub(crate) fn completed(&self) -> Option<Time> {
        match self {
            Flow::Kernel(status) => instant(&status.completed),
            Flow::Acp(flow) => flow.completed(),
        }
    }

    /// Packets that found no room in the receive buffer.
    pub(crate) fn refused(&self) -> u64 {
        match self {
            Flow::Kernel(_) => 0,
            Flow::Acp(flow) => flow.refused(),
        }
    }

    /// Why the flow failed, if it did.
    pub(crate) fn failed(&self) -> Option<&str> {
        match self {
            Flow::Kernel(status) => status.failed.get().map(String::as_str),
            // The process that failed is reported, not the flow.
            Flow::Acp(_) => None,
        }
    }
}

impl FlowStatus {
    /// Keeps the first failure.
    fn failed(&self, why: &io::Error) {
        let _ = self.failed.set(why.to_string());
    }
}

fn instant(at: &AtomicU64) -> Option<Time> {
    let ps = at.load(Relaxed);
    (ps > 0).then(|| Time::ZERO + Duration::from_ps(ps))
}
