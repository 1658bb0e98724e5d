//! Ctrl-C ends runs and keeps what they have measured.

use ratewire::Interrupt;
use ratewire_command_line::Exit;
use tokio::signal::unix::{SignalKind, signal};

/// Interrupts runs at the first Ctrl-C, and ends the command at the second.
///
/// The signal is caught from this call on. If it cannot be caught, it ends the command, as it does
/// by default.
#[expect(clippy::disallowed_methods, reason = "a thread waits for the signal")]
pub(crate) fn on_ctrl_c() -> Interrupt {
    let interrupt = Interrupt::default();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return interrupt;
    };
    let caught = {
        let _entered = runtime.enter();
        signal(SignalKind::interrupt())
    };
    let Ok(mut caught) = caught else { return interrupt };
    let shared = interrupt.clone();
    std::thread::spawn(move || {
        runtime.block_on(async {
            caught.recv().await;
            shared.interrupt();
            print_stderr!(
                "\nratewire: interrupted; results so far are kept; Ctrl-C again ends at once"
            );
            caught.recv().await;
            std::process::exit(Exit::Interrupted as i32);
        });
    });
    interrupt
}
