//! Parts that both versions share, and the path on which both are tested.

mod parts;
pub(super) mod path;
