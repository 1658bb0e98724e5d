//! Asks a Redis server at a rate, whether it answers or not, and prints how long answers take from
//! the moment at which their requests were due.
//!
//! `cargo run --release -p ratewire-gateway --example open_loop ADDRESS RATE [SECONDS]
//! [CONNECTIONS]`
//!
//! The first of the connections carries half of the load. Requests are `GET`s of keys with values
//! of 64 bytes, which the program sets first, and are due at random times (Poisson).

// A figure of real time.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout)]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use ratewire_timer::Timer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::task::LocalSet;

type Failed = Box<dyn std::error::Error>;

const KEYS: u64 = 10_000;
const VALUE: usize = 64;
/// Time after the last request for answers to come.
const FAREWELL: Duration = Duration::from_secs(2);
/// Requests of the start that do not count.
const WARM_UP: Duration = Duration::from_millis(500);

/// A connection: what is to be written, and when the requests without an answer were due.
#[derive(Default)]
struct Asked {
    out: RefCell<Vec<u8>>,
    due: RefCell<VecDeque<Instant>>,
    is_written: Notify,
}

/// Times of answers in nanoseconds, of the heavy connection and of the others.
struct Answers {
    counts_from: Instant,
    heavy: RefCell<Histogram<u64>>,
    others: RefCell<Histogram<u64>>,
    failed: Cell<u64>,
}

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, rate, rest @ ..] = &arguments[..] else {
        return Err("give an address and requests a second".into());
    };
    let rate: f64 = rate.parse()?;
    let seconds: f64 = rest.first().map_or(Ok(5.0), |text| text.parse())?;
    let connections: usize = rest.get(1).map_or(Ok(50), |text| text.parse())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, measure(address, rate, seconds, connections))
}

async fn measure(address: &str, rate: f64, seconds: f64, connections: usize) -> Result<(), Failed> {
    set_keys(address).await?;
    let start = Instant::now();
    let answers = Rc::new(Answers {
        counts_from: start + WARM_UP,
        heavy: RefCell::new(Histogram::new(3)?),
        others: RefCell::new(Histogram::new(3)?),
        failed: Cell::new(0),
    });
    let mut all = Vec::new();
    for k in 0..connections {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (read, write) = stream.into_split();
        let asked = Rc::new(Asked::default());
        tokio::task::spawn_local(write_all(Rc::clone(&asked), write));
        tokio::task::spawn_local(read_all(Rc::clone(&asked), read, Rc::clone(&answers), k == 0));
        all.push(asked);
    }
    let end = start + WARM_UP + Duration::from_secs_f64(seconds);
    ask(&all, rate, end).await?;
    let asked = end.elapsed().as_secs_f64();
    let waiting = || all.iter().map(|asked| asked.due.borrow().len()).sum::<usize>();
    let farewell = Instant::now() + FAREWELL;
    while waiting() > 0 && Instant::now() < farewell {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (heavy, others) = (answers.heavy.borrow(), answers.others.borrow());
    let mut both = heavy.clone();
    both.add(&*others)?;
    print!("{{\"per_s\": {:.0}, ", both.len() as f64 / (seconds + asked));
    for (name, times) in [("all", &both), ("heavy", &*heavy), ("others", &*others)] {
        let at = |quantile| times.value_at_quantile(quantile) as f64 / 1000.0;
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(at);
        print!("\"{name}_us\": {{\"p50\": {p50:.0}, \"p99\": {p99:.0}, \"p999\": {p999:.0}}}, ");
    }
    println!("\"failed\": {}, \"unanswered\": {}}}", answers.failed.get(), waiting());
    Ok(())
}

/// Asks at random times until the end.
async fn ask(all: &[Rc<Asked>], rate: f64, end: Instant) -> Result<(), Failed> {
    let timer = Timer::new()?;
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut due = Instant::now();
    loop {
        due += Duration::from_secs_f64(-(1.0 - random()).ln() / rate);
        if due >= end {
            return Ok(());
        }
        let wait = due.saturating_duration_since(Instant::now());
        if wait > Duration::ZERO {
            timer.wait(Some(wait)).await;
        }
        let is_heavy = random() < 0.5 || all.len() == 1;
        let which = if is_heavy { 0 } else { 1 + (random() * (all.len() - 1) as f64) as usize };
        let key = (random() * KEYS as f64) as u64;
        let request = format!("*2\r\n$3\r\nGET\r\n$8\r\nk{key:07}\r\n");
        all[which].due.borrow_mut().push_back(due);
        all[which].out.borrow_mut().extend(request.as_bytes());
        all[which].is_written.notify_one();
    }
}

async fn write_all(asked: Rc<Asked>, mut write: OwnedWriteHalf) {
    loop {
        let out = core::mem::take(&mut *asked.out.borrow_mut());
        if out.is_empty() {
            asked.is_written.notified().await;
        } else if write.write_all(&out).await.is_err() {
            return;
        }
    }
}

async fn read_all(asked: Rc<Asked>, mut read: OwnedReadHalf, answers: Rc<Answers>, is_heavy: bool) {
    let times = if is_heavy { &answers.heavy } else { &answers.others };
    let mut buffer = Vec::with_capacity(1 << 16);
    while matches!(read.read_buf(&mut buffer).await, Ok(count) if count > 0) {
        let now = Instant::now();
        let mut taken = 0;
        while let Some((length, is_error)) = answer(&buffer[taken..]) {
            taken += length;
            let Some(due) = asked.due.borrow_mut().pop_front() else { return };
            if due < answers.counts_from {
                continue;
            }
            if is_error {
                answers.failed.set(answers.failed.get() + 1);
            } else {
                // Three digits hold any time.
                _ = times.borrow_mut().record((now - due).as_nanos() as u64);
            }
        }
        buffer.drain(..taken);
    }
}

/// Length of the answer at the beginning, if it is whole, and whether it is an error. A server
/// without the key answers with a line.
fn answer(bytes: &[u8]) -> Option<(usize, bool)> {
    let line = bytes.windows(2).position(|two| two == b"\r\n")? + 2;
    let value = if bytes.starts_with(b"$64") { VALUE + 2 } else { 0 };
    (bytes.len() >= line + value).then_some((line + value, bytes[0] == b'-'))
}

async fn set_keys(address: &str) -> Result<(), Failed> {
    let mut stream = TcpStream::connect(address).await?;
    let value = "v".repeat(VALUE);
    for first in (0..KEYS).step_by(100) {
        let keys = first..first + 100;
        let set = |k| format!("*3\r\n$3\r\nSET\r\n$8\r\nk{k:07}\r\n${VALUE}\r\n{value}\r\n");
        stream.write_all(keys.map(set).collect::<String>().as_bytes()).await?;
        let mut answers = vec![0; 100 * "+OK\r\n".len()];
        stream.read_exact(&mut answers).await?;
        if answers.chunks(5).any(|answer| answer != b"+OK\r\n") {
            return Err(String::from_utf8_lossy(&answers).into());
        }
    }
    Ok(())
}
