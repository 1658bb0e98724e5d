//! `ratewire explore`: a page on loopback on which every key of a scenario can be changed. Each
//! change runs the scenario again and draws it, with the run before behind it.
//!
//! | part | is |
//! |---|---|
//! | `access` | who may ask: the address's token, and names of the host |
//! | `answer` | the lines that answer a request |
//! | `controls` | sliders, choices and fields, made of the scenario's keys |
//! | `command` | the command line of a run |
//! | `deadline` | sockets whose other end must read |
//! | `http` | the server: connections, requests, streamed answers |
//! | `kind` | another kind of topology, with the keys that go with it |
//! | `page` | the page itself: HTML, style and script |
//! | `request` | what a page asks for: values and laws, within bounds |
//! | `runner` | one run at a time; the latest request wins |
//! | `subject` | what a page is about: a scenario, or a sweep |
//!
//! An answer is streamed as lines of JSON: `plan`, `progress`, and at last `done`, `wrong` or
//! `overtaken`.
//! The figures are those of `report.html` ([`ratewire_report::html::render_fragment`]).

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod access;
mod answer;
mod command;
mod controls;
mod deadline;
mod http;
mod kind;
mod page;
mod request;
mod runner;
mod subject;

pub use http::{Server, ServerError};
pub use subject::{Explored, Subject};
