//! Routing modules in WebAssembly.

mod c_example;
mod corpus;
mod faults;
mod loading;
mod switch;
