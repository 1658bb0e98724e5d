//! Flows: kernel connections between hosts that send what the scenario's applications write.

use std::io::{self, Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::RcvBufForce;
use ratewire_sim::setup::FlowSpec;
use ratewire_transport::{App, PauseAfter, Reader, Writer};
use ratewire_units::{Bytes, Duration, Rate, Time};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};

use crate::Error;
use crate::clock::Clock;
use crate::host::Host;
use crate::sys::{self, TcpInfo};

/// Written, or read, at once.
const CHUNK: usize = 1 << 18;
/// How often an application that waits looks whether it has waited long enough, or is to stop.
const LOOK: Duration = Duration::from_millis(1);
/// How long a flow's threads get to end, and how often they are told to.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(2);
/// Of a flow that is to stop: written at once, and what may wait to be sent, so that little is left when it does.
const SMALL_CHUNK: usize = 1 << 14;
/// The port of the first flow.
const FIRST_PORT: u16 = 10_000;

/// A flow's two ends, opened and not yet joined.
#[derive(Debug)]
pub(crate) struct Ends {
    sender: Socket,
    listener: TcpListener,
    to: SocketAddrV4,
}

/// A flow in operation.
#[derive(Debug)]
pub(crate) struct Flow {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What a flow's two threads tell.
#[derive(Debug, Default)]
struct Shared {
    /// Payload that the receiving application has read.
    read: AtomicU64,
    /// When the sender began; zero while it has not.
    started: AtomicU64,
    /// When the receiver had read everything; zero while it has not.
    completed: AtomicU64,
    over: AtomicBool,
    sender: OnceLock<TcpStream>,
    receiver: OnceLock<TcpStream>,
    failed: Mutex<Option<String>>,
}

/// The port that the n-th flow's receiver listens on; `None` when there are no more.
pub(crate) fn port(flow: usize) -> Option<u16> {
    u16::try_from(flow).ok()?.checked_add(FIRST_PORT)
}

impl Ends {
    /// Opens both ends of the n-th flow, each at its host. Sockets belong to the control group that the process is in
    /// at this moment.
    pub(crate) fn open(
        n: usize,
        spec: &FlowSpec,
        from: &Host,
        to: &Host,
        control: Option<&'static str>,
    ) -> Result<Ends, Error> {
        let cannot = |e: io::Error| {
            let help =
                "/proc/sys/net/ipv4/tcp_available_congestion_control lists what this kernel has";
            Error::new(format!("cannot open the flow {:?}", spec.name), help).because(e)
        };
        let port = port(n).ok_or_else(|| cannot(io::Error::other("there are no more ports")))?;
        let address = SocketAddrV4::new(to.spec.address, port);
        let buffer = spec.transport.receive_window.buffer();
        let stops = spec.stop.is_some();
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
        Ok(Ends {
            sender: sender.map_err(cannot)?,
            listener: listener.map_err(cannot)?,
            to: address,
        })
    }
}

/// A receive window above this is left to the kernel to find.
const LARGEST_FIXED: Bytes = Bytes::new(1 << 30);

impl Flow {
    /// Has both ends do what the scenario says, from its start on.
    pub(crate) fn start(ends: Ends, spec: &FlowSpec, clock: Clock) -> Result<Flow, Error> {
        let shared = Arc::new(Shared::default());
        let Ends { sender, listener, to } = ends;
        let payload = spec.transport.packet.saturating_sub(spec.transport.headers);
        let frame = spec.app.frame.unwrap_or(payload);
        let (start, stop) = (spec.start, spec.stop.unwrap_or(Time::NEVER));
        let mut threads = Vec::new();
        let receiving = Receiving { reader: spec.app.reader, frame, end: end_of(&spec.app) };
        let own = shared.clone();
        threads.push(start_thread(&spec.name, move || {
            let done = receiving.run(&listener, &own, clock);
            own.tell(done);
        })?);
        let (own, writer) = (shared.clone(), spec.app.writer.clone());
        threads.push(start_thread(&spec.name, move || {
            own.sleep_until(clock, start);
            if own.is_over() {
                return;
            }
            own.started.store(clock.now().ps().max(1), Relaxed);
            // Known before it is joined, so that waiting for the other end can be ended too.
            let stream = own.sender.get_or_init(|| sender.into());
            if own.is_over() {
                return;
            }
            let done = SockRef::from(stream).connect(&SockAddr::from(to)).and_then(|()| {
                let done = Sending { stream, clock, stop, shared: &own, frame }.run(&writer);
                done.and_then(|()| stream.shutdown(std::net::Shutdown::Write))
            });
            own.tell(done);
        })?);
        Ok(Flow { shared, threads })
    }

    /// Payload that the receiving host has got, in order.
    pub(crate) fn delivered(&self) -> Bytes {
        let read = Bytes::new(self.shared.read.load(Relaxed));
        if self.completed().is_some() {
            return read;
        }
        let receiver = self.shared.receiver.get().and_then(|stream| sys::tcp_info(stream).ok());
        receiver.map_or(read, |info| Bytes::new(info.bytes_received).max(read))
    }

    /// What the sending kernel says; `None` before there is a connection.
    pub(crate) fn info(&self) -> Option<TcpInfo> {
        self.shared.sender.get().and_then(|stream| sys::tcp_info(stream).ok())
    }

    pub(crate) fn started(&self) -> Option<Time> {
        instant(&self.shared.started)
    }
    pub(crate) fn completed(&self) -> Option<Time> {
        instant(&self.shared.completed)
    }

    /// Why it could not do what it was to do.
    pub(crate) fn failed(&self) -> Option<String> {
        self.shared.failed.lock().ok()?.clone()
    }
}

impl Drop for Flow {
    /// Ends both ends, now. Said again until it is heard: a thread may just be about to wait for the other end.
    fn drop(&mut self) {
        self.shared.over.store(true, SeqCst);
        let deadline = Instant::now() + PATIENCE;
        while self.threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < deadline {
            let streams = [self.shared.sender.get(), self.shared.receiver.get()];
            for stream in streams.into_iter().flatten() {
                // What was not sent is not waited for: it would keep the host's namespace alive.
                let _ = SockRef::from(stream).set_linger(Some(std::time::Duration::ZERO));
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
            self.threads.iter().for_each(|thread| thread.thread().unpark());
            thread::sleep(LOOK_AGAIN);
        }
    }
}

fn start_thread(name: &str, what: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let builder = thread::Builder::new().name(format!("flow {name}")).stack_size(1 << 19);
    builder.spawn(what).map_err(|e| {
        Error::new(format!("cannot start a thread for the flow {name:?}"), "").because(e)
    })
}

fn instant(at: &AtomicU64) -> Option<Time> {
    let ps = at.load(Relaxed);
    (ps > 0).then(|| Time::ZERO + Duration::from_ps(ps))
}

fn end_of(app: &App) -> Option<u64> {
    match app.writer {
        Writer::Sized(size) => Some(size.get()),
        Writer::OnOff { burst, count: Some(count), .. } => Some(burst.get().saturating_mul(count)),
        _ => None,
    }
}

impl Shared {
    fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }

    /// Sleeps, but not beyond the end of the flow.
    fn sleep_until(&self, clock: Clock, at: Time) {
        while clock.now() < at && !self.is_over() {
            thread::park_timeout(clock.until(at));
        }
    }

    fn tell(&self, done: io::Result<()>) {
        if let Err(e) = done
            && !self.is_over()
            && let Ok(mut failed) = self.failed.lock()
        {
            failed.get_or_insert(e.to_string());
        }
    }
}

/// The sending application.
struct Sending<'a> {
    stream: &'a TcpStream,
    clock: Clock,
    stop: Time,
    shared: &'a Shared,
    frame: Bytes,
}

impl Sending<'_> {
    fn is_over(&self) -> bool {
        self.clock.now() >= self.stop || self.shared.is_over()
    }

    fn run(&self, writer: &Writer) -> io::Result<()> {
        match *writer {
            Writer::Unlimited => self.write(u64::MAX),
            Writer::Sized(size) => self.write(size.get()),
            Writer::OnOff { burst, pause, pause_after, count } => {
                let mut left = count.unwrap_or(u64::MAX);
                while left > 0 && !self.is_over() {
                    self.write(burst.get())?;
                    self.wait(pause_after)?;
                    left -= 1;
                    if left > 0 {
                        self.sleep_until(self.clock.now() + pause);
                    }
                }
                Ok(())
            }
            Writer::Constant { rate } => self.write_steadily(rate),
            // Overlays are not emulated.
            Writer::Fed => Ok(()),
        }
    }

    fn write(&self, size: u64) -> io::Result<()> {
        let zeros = vec![0; if self.stop == Time::NEVER { CHUNK } else { SMALL_CHUNK }];
        let mut left = size;
        while left > 0 && !self.is_over() {
            let some = left.min(zeros.len() as u64) as usize;
            left -= (&*self.stream).write(&zeros[..some])? as u64;
        }
        Ok(())
    }

    fn write_steadily(&self, rate: Rate) -> io::Result<()> {
        let zeros = vec![0; self.frame.get().min(CHUNK as u64) as usize];
        let Some(every) = rate.serial_time().map(|time| time.of(self.frame)) else {
            return Ok(());
        };
        let mut next = self.clock.now();
        while !self.is_over() {
            (&*self.stream).write_all(&zeros)?;
            next += every;
            self.sleep_until(next);
        }
        Ok(())
    }

    /// Waits until what was written has gone where the pause is counted from.
    fn wait(&self, after: PauseAfter) -> io::Result<()> {
        while !self.is_over() {
            let info = sys::tcp_info(self.stream)?;
            let is_there = match after {
                PauseAfter::Written => true,
                PauseAfter::Sent => info.notsent_bytes == 0,
                PauseAfter::Acknowledged => info.notsent_bytes == 0 && info.unacked == 0,
            };
            if is_there {
                break;
            }
            self.sleep_until(self.clock.now() + LOOK);
        }
        Ok(())
    }

    fn sleep_until(&self, at: Time) {
        self.shared.sleep_until(self.clock, at.min(self.stop));
    }
}

/// The receiving application.
struct Receiving {
    reader: Reader,
    frame: Bytes,
    end: Option<u64>,
}

impl Receiving {
    fn run(&self, listener: &TcpListener, shared: &Shared, clock: Clock) -> io::Result<()> {
        let stream = self.accept(listener, shared)?;
        let Some(mut stream) = stream else { return Ok(()) };
        let at_once =
            if self.reader == Reader::Immediate { CHUNK } else { self.frame.get() as usize };
        let mut room = vec![0; at_once.clamp(1, CHUNK)];
        let mut next = clock.now();
        loop {
            let got = stream.read(&mut room)?;
            let now = clock.now();
            let read = shared.read.fetch_add(got as u64, Relaxed) + got as u64;
            if got == 0 || self.end == Some(read) {
                // The end of the stream may come later than the last of its bytes.
                let _ = shared.completed.compare_exchange(0, now.ps().max(1), Relaxed, Relaxed);
            }
            if got == 0 {
                return Ok(());
            }
            if let Some(per_frame) = self.per_frame(now) {
                let share = got as f64 / self.frame.as_f64().max(1.0);
                next = next.max(now) + per_frame.scale(share);
                shared.sleep_until(clock, next);
            }
        }
    }

    fn accept<'a>(
        &self,
        listener: &TcpListener,
        shared: &'a Shared,
    ) -> io::Result<Option<&'a TcpStream>> {
        listener.set_nonblocking(true)?;
        while !shared.is_over() {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    return Ok(
                        Some(shared.receiver.get_or_init(|| stream)).filter(|_| !shared.is_over())
                    );
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    thread::sleep(std::time::Duration::from_millis(1));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(None)
    }

    /// What a frame that is begun now takes, if not at once.
    fn per_frame(&self, now: Time) -> Option<Duration> {
        match self.reader {
            Reader::Immediate => None,
            Reader::Slow(per_frame) => Some(per_frame),
            Reader::Alternating { per_frame, every } => {
                let turn = now.ps() / every.ps().max(1);
                Some(per_frame[(turn % 2) as usize])
            }
        }
    }
}
