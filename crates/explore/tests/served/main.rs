//! The page as clients see it: raw HTTP, and a browser.

mod browser;
mod client;
mod http;
