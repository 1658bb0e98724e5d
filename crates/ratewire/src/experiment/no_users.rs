//! Stands in for `users.rs` in a build without the feature `emulate`: no programs run.

use crate::emulated::check_feature;
use crate::{Error, Experiment};

impl Experiment {
    pub(crate) fn check_users(&self) -> Result<(), Error> {
        check_feature()
    }
}
