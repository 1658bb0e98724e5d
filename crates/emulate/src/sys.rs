//! System calls that no crate wraps safely.

use std::ffi::CStr;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd};

/// Fields of `struct ifreq` of `linux/if.h` that are used.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: libc::c_short,
    rest: [u8; 22],
}

mod ioctl {
    use super::InterfaceRequest;

    nix::ioctl_write_ptr_bad!(set_iff, nix::request_code_write!(b'T', 202, 4), InterfaceRequest);
    nix::ioctl_write_int_bad!(set_persist, nix::request_code_write!(b'T', 203, 4));
    nix::ioctl_write_int_bad!(set_offload, nix::request_code_write!(b'T', 208, 4));
}

/// Makes an open `/dev/net/tun` a TUN device: IP packets without an Ethernet header, with offload
/// headers.
pub(crate) fn make_tun(file: &impl AsFd, name: &CStr) -> io::Result<()> {
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    let mut request =
        InterfaceRequest { name: [0; 16], flags: flags as libc::c_short, rest: [0; 22] };
    // The last byte stays 0.
    for (to, from) in request.name[..15].iter_mut().zip(name.to_bytes()) {
        *to = *from;
    }
    // SAFETY: the request is a whole `struct ifreq`, which the call reads.
    unsafe { ioctl::set_iff(file.as_fd().as_raw_fd(), &request) }?;
    Ok(())
}

/// Keeps the device after its file is closed, until its namespace ends.
pub(crate) fn keep_tun(file: &impl AsFd) -> io::Result<()> {
    // SAFETY: the call takes a number and no pointer.
    unsafe { ioctl::set_persist(file.as_fd().as_raw_fd(), 1) }?;
    Ok(())
}

/// Lets the kernel leave to us checksums, and the cutting of TCP streams over IPv4 into packets.
pub(crate) fn offload_tun(file: &impl AsFd) -> io::Result<()> {
    let what = libc::TUN_F_CSUM | libc::TUN_F_TSO4;
    // SAFETY: the call takes a number and no pointer.
    unsafe { ioctl::set_offload(file.as_fd().as_raw_fd(), what as libc::c_int) }?;
    Ok(())
}

/// Keeps started programs from inheriting this process's files, except for input, output and
/// errors. Files that this process opens itself are not inherited either.
pub(crate) fn keep_files() -> io::Result<()> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(number) = number.filter(|number| *number > libc::STDERR_FILENO) {
            // SAFETY: the call takes numbers and no pointer; a number of a closed file does no
            // harm.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Gives the calling thread, and none that it starts, real-time priority; its timers then fire when
/// they are due.
pub(crate) fn be_real_time() -> io::Result<()> {
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the parameters live as long as the call.
    let result = unsafe {
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const lowest)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the calling thread to ordinary scheduling.
pub(crate) fn be_ordinary() {
    let none = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameters live as long as the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const none) };
}

/// `struct tcp_info` of `linux/tcp.h`, up to the last field used.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpInfo {
    bytes: [u8; 8],
    pub(crate) rto: u32,
    pub(crate) ato: u32,
    pub(crate) snd_mss: u32,
    pub(crate) rcv_mss: u32,
    pub(crate) unacked: u32,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retrans: u32,
    pub(crate) fackets: u32,
    times: [u32; 4],
    pub(crate) pmtu: u32,
    pub(crate) rcv_ssthresh: u32,
    /// Microseconds.
    pub(crate) rtt: u32,
    pub(crate) rttvar: u32,
    pub(crate) snd_ssthresh: u32,
    /// Packets.
    pub(crate) snd_cwnd: u32,
    pub(crate) advmss: u32,
    pub(crate) reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    /// Packets.
    pub(crate) total_retrans: u32,
    /// Bytes a second; all ones for none.
    pub(crate) pacing_rate: u64,
    max_pacing_rate: u64,
    pub(crate) bytes_acked: u64,
    pub(crate) bytes_received: u64,
    segs: [u32; 2],
    pub(crate) notsent_bytes: u32,
    min_rtt: u32,
    data_segs: [u32; 2],
    delivery_rate: u64,
    busy_times: [u64; 3],
    delivered: [u32; 2],
    bytes_sent: u64,
    pub(crate) bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    pub(crate) snd_wnd: u32,
}

/// The kernel's facts about a connection; unknown ones are zero.
pub(crate) fn tcp_info(socket: &impl AsFd) -> io::Result<TcpInfo> {
    let mut info = MaybeUninit::<TcpInfo>::zeroed();
    let mut len = size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes, and any bytes are a `TcpInfo`.
    let result = unsafe {
        let fd = socket.as_fd().as_raw_fd();
        libc::getsockopt(
            fd,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was zeroed, and consists of numbers only.
    Ok(unsafe { info.assume_init() })
}
