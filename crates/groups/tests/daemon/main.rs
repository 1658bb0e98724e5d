//! Daemons with real sockets, and clients that speak the protocol byte by byte.
//!
//! No test asks how long something takes. A deadline only ends a test that hangs.
//!
//! | file | tests |
//! |---|---|
//! | `handshake` | how clients introduce themselves, and who is refused |
//! | `service` | what one daemon does for its clients |
//! | `recorded` | sessions of Spread's programs, byte for byte |
//! | `several`, `restart` | orders and notices across daemons that come and go |
//! | `growing` | daemons that read their file again |
//! | `slow_link` | a link that takes long for a message |
//! | `trust` | which daemons are let in |
//! | `slow`, `lagging`, `unread` | members that do not read |
//! | `hostile` | clients that break the protocol |
//! | `example` | the program in `examples/` |
//! | `overlay`, `client` | daemons in threads, and clients of them |

#![allow(
    clippy::disallowed_methods,
    reason = "each daemon runs in a thread, and certificates need the date"
)]

mod client;
mod example;
mod growing;
mod handshake;
mod hostile;
mod lagging;
mod overlay;
mod recorded;
mod restart;
mod service;
mod several;
mod slow;
mod slow_link;
mod trust;
mod unread;
