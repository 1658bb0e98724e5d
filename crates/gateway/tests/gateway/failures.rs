//! Members and switches that die under requests.

use std::cell::RefCell;
use std::collections::BTreeMap;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// How often each line has come.
type Counts = Rc<RefCell<BTreeMap<String, u32>>>;

/// A server that counts lines, and answers each with `+` and the line.
async fn server(counts: &Counts) -> SocketAddr {
    let listener = TcpListener::bind(local()).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    let counts = Rc::clone(counts);
    spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let counts = Rc::clone(&counts);
            spawn_local(async move {
                let (read, mut write) = stream.into_split();
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    *counts.borrow_mut().entry(line.clone()).or_default() += 1;
                    if write.write_all(format!("+{line}\r\n").as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

async fn ask(client: &mut BufReader<TcpStream>, line: &str) -> String {
    client.write_all(format!("{line}\r\n").as_bytes()).await.expect("room");
    let mut answer = String::new();
    client.read_line(&mut answer).await.expect("an answer");
    answer.trim_end().to_string()
}

async fn connected(gateway: &Listen) -> BufReader<TcpStream> {
    BufReader::new(TcpStream::connect(tcp(gateway)).await.expect("the gateway"))
}

/// Asks for keys of both members while both are up, and when one has died; returns the answers.
async fn with_a_death(when_down: Option<WhenDown>) -> (Vec<String>, Vec<String>) {
    let (framing, counts) = (framing("resp"), Counts::default());
    let stays = member(framing, server(&counts).await);
    let (dies, running) = member_that_dies(framing, server(&counts).await);
    let (switch, _serving) = switch_that(local(), &[stays, dies], when_down);
    let gateway = gateway(framing, Listen::Tcp(local()), switch).await;
    let mut client = connected(&gateway).await;
    let mut round = async || {
        let mut answers = Vec::new();
        for k in 0..8 {
            answers.push(ask(&mut client, &format!("GET k{k}")).await);
        }
        answers
    };
    // A member that is late, as on a busy machine, counts as down for a while.
    let mut before = round().await;
    while before.iter().any(|answer| answer.starts_with('-')) {
        before = round().await;
    }
    running.abort();
    // Requests under way when the member dies fail, or wait until the switch notices.
    round().await;
    (before, round().await)
}

#[tokio::test(flavor = "current_thread")]
async fn keys_of_a_member_that_is_down_fail_and_only_these() {
    in_time(async {
        let all: Vec<String> = (0..8).map(|k| format!("+GET k{k}")).collect();
        let (before, after) = with_a_death(None).await;
        assert_eq!(before, all);
        let (done, failed): (Vec<&String>, Vec<&String>) =
            after.iter().partition(|answer| answer.starts_with('+'));
        assert!(!done.is_empty() && !failed.is_empty(), "{after:?}");
        assert!(failed.iter().all(|why| why.starts_with("-ERR member m1 is down: ")), "{after:?}");
        // In a cache they move.
        let (before, after) = with_a_death(Some(WhenDown::Move)).await;
        assert_eq!((before, after), (all.clone(), all));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn keys_of_members_that_have_yet_to_register_again_wait_for_them() {
    in_time(async {
        let (framing, counts) = (framing("resp"), Counts::default());
        let stays = member(framing, server(&counts).await);
        let late = member(framing, server(&counts).await);
        let (address, mut serving) = switch(local(), &[stays, late]);
        let setting = Setting { timeout: Duration::from_secs(1), ..Setting::default() };
        let gateway = gateway_with(framing, Listen::Tcp(local()), address, setting).await;
        let mut client = connected(&gateway).await;
        let mut round = async || {
            let all: String = (0..8).map(|k| format!("SET k{k} 1\r\n")).collect();
            client.write_all(all.as_bytes()).await.expect("room");
            let mut answers = Vec::new();
            for _ in 0..8 {
                let mut answer = String::new();
                client.read_line(&mut answer).await.expect("an answer");
                answers.push(answer.trim_end().to_string());
            }
            answers
        };
        let all: Vec<String> = (0..8).map(|k| format!("+SET k{k} 1")).collect();
        while round().await != all {}
        let choice = Choice::Hash { offset: 0, length: 8 };
        let hour = Duration::from_secs(3600);
        let told = |gather| Told { choice, gather, ..Told::default() };
        let awaited = "-ERR the switch has just begun, and waits for its members to register";
        // One member registers again, then both.
        serving.abort();
        _ = (&mut serving).await;
        serving = switch_with(address, &[stays], told(hour)).1;
        let mut answers = round().await;
        while !answers.iter().any(|answer| answer == awaited) {
            answers = round().await;
        }
        assert!(answers.iter().any(|answer| answer.starts_with('+')), "{answers:?}");
        serving.abort();
        _ = (&mut serving).await;
        serving = switch_with(address, &[stays, late], told(hour)).1;
        while round().await != all {}
        // After the time to gather, a member that is missing has left.
        serving.abort();
        _ = (&mut serving).await;
        counts.borrow_mut().clear();
        _ = switch_with(address, &[stays], told(Duration::ZERO));
        while round().await != all {}
        // Who knows no members waits for them.
        let (switch, _serving) = switch_with(local(), &[stays], told(hour));
        let gateway = gateway_with(framing, Listen::Tcp(local()), switch, setting).await;
        let answer = ask(&mut connected(&gateway).await, "SET k0 1").await;
        assert_eq!(answer, awaited);
    })
    .await;
}

/// A switch that ends drains its members. They have not left because of that.
#[tokio::test(flavor = "current_thread")]
async fn keys_of_members_are_not_given_to_others_when_a_switch_is_told_to_stop() {
    in_time(async {
        let (framing, near, far) = (framing("resp"), Counts::default(), Counts::default());
        let stays = member(framing, server(&near).await);
        let late = member(framing, server(&far).await);
        let stop = Rc::new(tokio::sync::Notify::new());
        let is_told = Rc::clone(&stop);
        let told = async move { is_told.notified().await };
        let (address, serving) = switch_until(local(), &[stays, late], told);
        let setting = Setting { timeout: Duration::from_secs(1), ..Setting::default() };
        let gateway = gateway_with(framing, Listen::Tcp(local()), address, setting).await;
        let mut client = connected(&gateway).await;
        while far.borrow().is_empty() || near.borrow().is_empty() {
            for k in 0..8 {
                ask(&mut client, &format!("SET k{k} 1")).await;
            }
        }
        let ours = far.borrow().keys().next().cloned().expect("a key of the member");
        stop.notify_one();
        serving.await.expect("an end");
        let (choice, gather) = (Choice::Hash { offset: 0, length: 8 }, Duration::from_secs(3600));
        let told = Told { choice, gather, ..Told::default() };
        let (_, _serving) = switch_with(address, &[stays], told);
        let awaited = "-ERR the switch has just begun, and waits for its members to register";
        assert_eq!(ask(&mut client, &ours).await, awaited);
        assert!(!near.borrow().contains_key(&ours));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn nothing_is_done_twice_however_often_the_switch_dies() {
    const CLIENTS: usize = 20;
    const DEATHS: usize = 6;
    in_time(async {
        let (framing, counts) = (framing("lines"), Counts::default());
        let members =
            [member(framing, server(&counts).await), member(framing, server(&counts).await)];
        let (address, mut serving) = switch(local(), &members);
        let gateway = gateway(framing, Listen::Tcp(local()), address).await;
        let stop = Rc::new(std::cell::Cell::new(false));
        let mut clients = tokio::task::JoinSet::new();
        for number in 0..CLIENTS {
            let (gateway, stop) = (gateway.clone(), Rc::clone(&stop));
            clients.spawn_local(async move {
                let (mut answered, mut n) = (Vec::new(), 0);
                while !stop.get() {
                    let mut client = connected(&gateway).await;
                    // Ten lines under way, until a failure closes the connection.
                    loop {
                        let first = n;
                        let lines: String =
                            (0..10).map(|k| format!("{number}.{} x\n", first + k)).collect();
                        n += 10;
                        if client.write_all(lines.as_bytes()).await.is_err() {
                            break;
                        }
                        let mut broken = false;
                        for k in 0..10 {
                            let mut answer = String::new();
                            broken = client.read_line(&mut answer).await.unwrap_or(0) == 0;
                            if broken {
                                break;
                            }
                            assert_eq!(answer, format!("+{number}.{} x\r\n", first + k));
                            answered.push(format!("{number}.{} x", first + k));
                        }
                        if broken || stop.get() {
                            break;
                        }
                    }
                }
                answered
            });
        }
        for _ in 0..DEATHS {
            tokio::time::sleep(Duration::from_millis(150)).await;
            serving.abort();
            _ = (&mut serving).await;
            serving = switch(address, &members).1;
            tokio::time::sleep(Duration::from_millis(600)).await;
        }
        stop.set(true);
        let answered: Vec<String> = clients.join_all().await.into_iter().flatten().collect();
        let counts = counts.borrow();
        let twice: Vec<&String> =
            counts.iter().filter(|(_, count)| **count > 1).map(|(line, _)| line).collect();
        assert!(twice.is_empty(), "{} of {} lines were done twice", twice.len(), counts.len());
        assert!(answered.iter().all(|line| counts[line] == 1), "an answer to what was not done");
        assert!(!answered.is_empty());
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_member_that_leaves_and_returns_does_what_it_is_asked() {
    in_time(async {
        let (framing, counts) = (framing("resp"), Counts::default());
        let members =
            [member(framing, server(&counts).await), member(framing, server(&counts).await)];
        let (address, mut serving) = switch(local(), &members);
        let gateway = gateway(framing, Listen::Tcp(local()), address).await;
        let mut client = connected(&gateway).await;
        let mut round = async || {
            for k in 0..8 {
                while ask(&mut client, &format!("GET k{k}")).await != format!("+GET k{k}") {}
            }
        };
        round().await;
        // A switch that knows one of them only, and then one that knows both again.
        for known in [1, 2] {
            serving.abort();
            _ = (&mut serving).await;
            serving = switch(address, &members[..known]).1;
            round().await;
        }
        assert!(counts.borrow().len() == 8);
    })
    .await;
}
