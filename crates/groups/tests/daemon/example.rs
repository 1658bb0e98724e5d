//! The program in `examples/`, with two users.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use super::overlay::{FREE, Overlay};

struct User {
    program: Child,
    printed: Box<dyn BufRead>,
}

impl User {
    fn start(overlay: &Overlay, name: &str) -> User {
        let socket = overlay.socket("localhost");
        let mut program = Command::new(ratewire_testing::example("chat"))
            .args([socket.to_str().unwrap(), name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let printed = Box::new(BufReader::new(program.stdout.take().unwrap()));
        User { program, printed }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.printed.read_line(&mut line).unwrap();
        line
    }

    fn says(&mut self, text: &str) {
        writeln!(self.program.stdin.as_mut().unwrap(), "{text}").unwrap();
    }

    /// Ends the input, and gives what is still printed.
    fn ends(mut self) -> String {
        drop(self.program.stdin.take());
        let rest = std::io::read_to_string(&mut self.printed).unwrap();
        assert!(self.program.wait().unwrap().success());
        rest
    }
}

#[test]
fn two_users_read_the_same_lines() {
    let (overlay, _daemon) = Overlay::single(FREE);
    let mut ann = User::start(&overlay, "ann");
    assert_eq!(ann.line(), "here: #ann#localhost\n");
    let mut bob = User::start(&overlay, "bob");
    let both = "here: #ann#localhost #bob#localhost\n";
    assert_eq!((ann.line(), bob.line()), (both.into(), both.into()));
    ann.says("hello");
    bob.says("good day");
    let lines = |user: &mut User| [user.line(), user.line()];
    let (of_ann, of_bob) = (lines(&mut ann), lines(&mut bob));
    assert_eq!(of_ann, of_bob);
    assert!(of_ann.contains(&"#ann#localhost: hello\n".to_string()), "{of_ann:?}");
    assert!(of_ann.contains(&"#bob#localhost: good day\n".to_string()), "{of_ann:?}");
    assert_eq!(bob.ends(), "");
    assert_eq!(ann.line(), "here: #ann#localhost\n");
    ann.says("alone");
    assert_eq!(ann.ends(), "#ann#localhost: alone\n");
}
