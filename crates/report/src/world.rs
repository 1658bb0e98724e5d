//! The worlds that a run can take place in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where a run takes place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum World {
    /// Virtual time: hosts, links and queues are all modelled.
    #[default]
    Simulate,
    /// Real time: kernels and programs in network namespaces send over a modelled network.
    Emulate,
}

impl World {
    /// Every world, in the order in which they are listed.
    pub const ALL: [World; 2] = [World::Simulate, World::Emulate];

    /// The world's name on the command line, in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            World::Simulate => "simulate",
            World::Emulate => "emulate",
        }
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no world has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no world is called {0:?}; known: simulate, emulate")]
pub struct UnknownWorld(pub String);

impl FromStr for World {
    type Err = UnknownWorld;

    fn from_str(name: &str) -> Result<World, UnknownWorld> {
        let known = World::ALL.into_iter().find(|world| world.name() == name);
        known.ok_or_else(|| UnknownWorld(name.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_is_read_as_it_is_written() {
        for world in World::ALL {
            assert_eq!(world.to_string().parse(), Ok(world));
            assert_eq!(serde_json::to_string(&world).unwrap(), format!("\"{world}\""));
        }
        let wrong = "Emulate".parse::<World>().unwrap_err().to_string();
        assert_eq!(wrong, "no world is called \"Emulate\"; known: simulate, emulate");
    }
}
