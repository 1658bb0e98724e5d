//! Clients of HTTP that send requests behind others without waiting for answers.

use tokio::io::AsyncWriteExt;

use super::streams::{around, body, client, get, head};
use super::*;

/// Each would have a connection of its own with the server, where nothing keeps them in order.
#[tokio::test(flavor = "current_thread")]
async fn requests_of_a_client_follow_each_other() {
    in_time(async {
        let (gateway, go_on) = around(Setting::default()).await;
        let mut one = client(gateway).await;
        // The upload would let the server answer the request before it.
        let upload = "PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody";
        let both = format!("GET /waits HTTP/1.1\r\nHost: x\r\n\r\n{upload}");
        one.write_all(both.as_bytes()).await.expect("room");
        let mut other = client(gateway).await;
        for _ in 0..50 {
            get(&mut other, "/other").await;
            assert_eq!(body(&mut other).await, b"/other");
        }
        let early = one.get_mut().try_read(&mut [0]).map_err(|error| error.kind());
        assert_eq!(early, Err(std::io::ErrorKind::WouldBlock));
        go_on.notify_one();
        assert_eq!(body(&mut one).await, b"waited");
        assert_eq!(body(&mut one).await, b"4");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn requests_that_last_hold_up_no_other_client_however_many_there_are() {
    in_time(async {
        let (gateway, _) = around(Setting::default()).await;
        let mut many = Vec::new();
        for _ in 0..40 {
            let mut one = client(gateway).await;
            let request = "GET /events HTTP/1.1\r\nHost: x\r\n\r\n";
            one.write_all(request.repeat(32).as_bytes()).await.expect("room");
            assert!(head(&mut one).await.is_some_and(|head| head.starts_with("HTTP/1.1 200 ")));
            many.push(one);
        }
        let mut other = client(gateway).await;
        get(&mut other, "/other").await;
        assert_eq!(body(&mut other).await, b"/other");
    })
    .await;
}
