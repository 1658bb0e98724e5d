//! Questions and answers over ACP, between two processes.
//!
//! ```sh
//! head -c 32 /dev/urandom > secret
//! cargo run -p ratewire-acp --example ask serve secret 127.0.0.1:4700
//! cargo run -p ratewire-acp --example ask ask secret 127.0.0.1:4700 hello "how are you?"
//! ```
//!
//! The server answers each frame with its text in capitals. Both have the secret of the file;
//! `KeyPair` is for ends that do not share one.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::net::SocketAddr;

use ratewire_acp::{Config, Connection, Credentials, Endpoint, Frame, local_for};
use ratewire_laws::AnyLaw;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, secret, address, questions @ ..] = &arguments[..] else {
        return Err("usage: ask (serve | ask) SECRET-FILE ADDRESS [QUESTION...]".into());
    };
    let secret: [u8; 32] = std::fs::read(secret)?
        .try_into()
        .map_err(|_| format!("{secret} must have 32 bytes: head -c 32 /dev/urandom > {secret}"))?;
    let address: SocketAddr = address.parse()?;
    // XCP fills the congestion header: a router on the way that has XCP tells the sender its rate.
    // Without one, the law's receiver still bounds it.
    let law = AnyLaw::new("xcp", &[])?;
    let config = Config { law, law_name: "xcp".into(), ..Config::new(Credentials::Shared(secret)) };
    match role.as_str() {
        "serve" => serve(Endpoint::server(address, config)?).await,
        "ask" => ask(Endpoint::client(local_for(address), config)?, address, questions).await,
        other => Err(format!("{other} is neither serve nor ask").into()),
    }
}

async fn serve(endpoint: Endpoint) -> Result<(), Box<dyn Error>> {
    println!("listening at {}", endpoint.address());
    loop {
        let connection = endpoint.accept().await?;
        tokio::spawn(async move {
            if let Err(error) = answer(connection).await {
                println!("a connection has failed: {error}");
            }
        });
    }
}

/// Answers frames until the client has no more.
async fn answer(connection: Connection) -> Result<(), ratewire_acp::Error> {
    while let Some(frame) = connection.receive().await? {
        let text = String::from_utf8_lossy(&frame.data).to_uppercase();
        // An answer has the number of its question. `send` waits while the window is full.
        connection.send(Frame::new(frame.id, text)).await?;
    }
    connection.close().await
}

async fn ask(
    endpoint: Endpoint,
    server: SocketAddr,
    questions: &[String],
) -> Result<(), Box<dyn Error>> {
    let connection = endpoint.connect(server).await?;
    for (id, question) in (0..).zip(questions) {
        connection.send(Frame::new(id, question.clone())).await?;
    }
    // Nothing more will be sent; the server reads the end of the stream after the last frame.
    connection.finish()?;
    while let Some(frame) = connection.receive().await? {
        println!("{}: {}", frame.id, String::from_utf8_lossy(&frame.data));
    }
    connection.close().await?;
    Ok(())
}
