//! stub
#![no_std]
pub mod xcp {
    //! stub
    use ratewire_units::*;
    /// stub
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[allow(missing_docs)]
    pub enum Draft {
        V00,
        V02,
        V03,
    }
    /// stub
    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    pub enum Format {
        /// s
        #[default]
        Standard,
        /// m
        Minimal,
    }
    /// stub
    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    pub struct XcpHeader {
        /// p
        pub protocol: u8,
        /// f
        pub format: Format,
        /// r
        pub rtt: Duration,
        /// x
        pub x: Duration,
        /// r
        pub reverse_feedback: Throughput,
        /// d
        pub delta_throughput: Throughput,
    }
}
