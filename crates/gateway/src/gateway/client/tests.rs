use super::*;

fn client(memory: &Rc<Memory>) -> Client {
    let shared = (Rc::clone(memory), Rc::default());
    Client::new(0, Framing::named("resp").expect("a framing"), shared)
}

/// Whether a client has been ended.
async fn is_ended(client: &Client) -> bool {
    tokio::select! {
        biased;
        () = client.ended.notified() => true,
        () = std::future::ready(()) => false,
    }
}

#[tokio::test]
async fn who_takes_no_answers_is_held_and_then_ended() {
    let memory = Rc::new(Memory::new(1 << 30));
    let client = client(&memory);
    let long = Bytes::from(vec![b'x'; ENOUGH]);
    let places: Vec<u64> = std::iter::from_fn(|| client.reserve()).collect();
    assert_eq!((places.len(), client.last()), (MOST, Some(MOST as u64 - 1)));
    let put = |place: u64| client.finish(Place::whole(place), long.clone(), false, 1);
    let [first, last] = [0, 1023].map(Place::whole);
    assert!(!client.holds(last));
    put(1);
    assert!(client.holds(last) && !client.holds(first) && !client.resumes());
    assert!(client.lacks_next() && !client.lacks_next());
    assert!(client.holds(last));
    (2..=LIMIT as u64 / ENOUGH as u64).for_each(put);
    assert!(!is_ended(&client).await);
    put(65);
    assert!(is_ended(&client).await);
    assert_eq!(client.counts.clients().ended_not_reading, 1);
    assert_eq!(memory.used(), client.held());
    let mut all = Vec::new();
    client.take(&mut all);
    assert!(all.is_empty(), "the first answer is missing");
    client.answer(0, Bytes::from_static(b"+OK\r\n"));
    (0..70).for_each(|_| _ = client.take(&mut all));
    assert_eq!((all.len(), memory.used(), client.resumes()), (66, 0, true));
}

#[test]
fn a_client_that_leaves_frees_what_is_held_for_it() {
    let memory = Rc::new(Memory::new(100));
    let client = client(&memory);
    let place = Place::whole(client.reserve().expect("a place"));
    client.begin(place, Bytes::from(vec![0; 60]));
    client.queue(30);
    client.queue(10);
    assert_eq!((memory.used(), client.held()), (70, 70));
    client.hold_request(50);
    assert!(memory.is_over());
    client.release_request(50);
    client.leave();
    assert_eq!(memory.used(), 0);
    client.finish(place, Bytes::from(vec![0; 60]), false, 120);
    client.leave();
    assert_eq!(memory.used(), 0);
}

#[test]
fn long_answers_are_expected_again_for_some_time() {
    let client = client(&Rc::new(Memory::new(100)));
    let finish = |length| {
        let place = Place::whole(client.reserve().expect("a place"));
        client.finish(place, Bytes::new(), false, length);
        client.expected()
    };
    assert_eq!([finish(8000), finish(1), finish(1)], [8000, 7000, 6125]);
    (0..100).for_each(|_| _ = finish(1));
    assert_eq!(client.expected(), LEAST);
}

#[test]
fn a_client_that_finishes_gets_the_answers_that_it_waits_for() {
    let client = client(&Rc::new(Memory::new(100)));
    let place = Place::whole(client.reserve().expect("a place"));
    client.finish_all();
    let mut all = Vec::new();
    assert_eq!((client.reserve(), client.take(&mut all)), (None, false));
    client.finish(place, "+OK\r\n".into(), false, 5);
    assert!(client.take(&mut all));
    assert_eq!(all, ["+OK\r\n"]);
}

#[test]
fn an_answer_that_breaks_off_closes_the_connection() {
    let client = client(&Rc::new(Memory::new(100)));
    let [first, second] = [(); 2].map(|()| Place::whole(client.reserve().expect("a place")));
    client.fail(first, Expect::ORDINARY, (Cause::Down, "why"), false);
    client.begin(second, "$100\r\n".into());
    let mut all = Vec::new();
    assert!(!client.take(&mut all));
    assert_eq!(all, ["-ERR why\r\n", "$100\r\n"]);
    client.fail(second, Expect::ORDINARY, (Cause::Lost, "why"), true);
    assert!(client.take(&mut all));
    assert_eq!(all.concat(), b"-ERR why\r\n$100\r\n");
    let failed = client.counts.requests().failed;
    assert_eq!((failed.down, failed.lost, failed.all()), (1, 1, 2));
}
