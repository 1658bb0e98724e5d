//! Loaders that the build generates for the programs of `bpf/`.

#![allow(missing_docs, clippy::all)]

pub(crate) mod host {
    include!(concat!(env!("OUT_DIR"), "/host.skel.rs"));
}
pub(crate) mod namespaces {
    include!(concat!(env!("OUT_DIR"), "/namespaces.skel.rs"));
}
pub(crate) mod router {
    include!(concat!(env!("OUT_DIR"), "/router.skel.rs"));
}
