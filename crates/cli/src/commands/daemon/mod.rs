//! What commands of daemons share.
//!
//! | part | is |
//! |---|---|
//! | `running` | the log, readiness and the end of a daemon |
//! | `status` | a daemon's state, once or again and again |
//! | `config` | mistakes of a configuration file |

mod config;
mod running;
mod status;

pub(crate) use config::refuse;
pub(crate) use running::{Hangups, start_log, tell_ready, told_to_stop};
pub(crate) use status::{Form, address, show};
