//! What this machine is, for those who read results of its runs later.

use std::fs;

/// Name and release of this machine's kernel: `Linux 6.18.3`.
pub fn kernel_release() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", release.trim())
}

/// Number and name of this machine's processors: `2 x AMD EPYC 7B13`.
pub fn processors() -> String {
    let number = std::thread::available_parallelism().map_or(1, usize::from);
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    format!("{number} x {}", model(&about).unwrap_or("unknown processor"))
}

/// The first processor's name in the text of `/proc/cpuinfo`, which has none on some machines.
fn model(cpuinfo: &str) -> Option<&str> {
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let mut names = fields.filter(|(key, _)| key.trim() == "model name");
    names.next().map(|(_, name)| name.trim()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_has_the_name_that_the_kernel_gives_it() {
        let intel =
            "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: a b\n";
        assert_eq!(model(intel), Some("Intel(R) Xeon(R)"));
        assert_eq!(model("processor\t: 0\nBogoMIPS\t: 50.00\n"), None);
    }
}
