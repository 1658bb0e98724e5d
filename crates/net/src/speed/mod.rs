//! What makes simulations fast and changes no result.

pub(crate) mod burst;
pub(crate) mod delay_line;
pub(crate) mod foresight;
pub(crate) mod lag;
