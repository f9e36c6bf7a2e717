//! One guest: its process, its folder, its turns, and the interrupts of its card.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::card::{Card, Heard, RX, TX, features};
use crate::clock::{Clock, Said};
use crate::kernel::Kernel;
use crate::plan::GuestPlan;
use crate::sys::{Child, Ready, Socket, ready, start};

/// Lines of its console that are told when something went wrong.
const LINES: usize = 12;
/// The console's file in a guest's folder.
const CONSOLE: &str = "console.log";
/// Where it writes what it measured and what its programs wrote.
pub const BOX: &str = "box";

/// A guest.
#[derive(Debug)]
pub struct Guest {
    /// Its host's name.
    pub name: String,
    folder: PathBuf,
    child: Child,
    listeners: Option<(UnixListener, UnixListener)>,
    clock: Option<Clock>,
    card: Option<Card>,
    offered: u64,
    address: [u8; 6],
    shares_page: bool,
    /// Frames for which it had no room.
    backlog: VecDeque<Vec<u8>>,
    /// By ring: buffers have been given back that it does not know of.
    given: [bool; 2],
    /// Its age when its card last said something.
    kicked_at: u64,
    /// How long it may take until it says something.
    patience_ms: i32,
    /// It went off by itself.
    is_off: bool,
}

/// What a guest does at a notification of its card: gives until when it may go on by itself.
pub type OnKick<'a> = dyn FnMut(&mut Guest, usize, u64) -> Result<u64, String> + 'a;

/// The address of a guest's card, by its number.
pub fn address(number: usize) -> [u8; 6] {
    let [.., a, b] = (number as u32).to_be_bytes();
    [0x02, 0x73, 0x74, 0x6c, a, b]
}

/// The command line of a guest's kernel. It goes into its random numbers, so nothing in it depends on where or when it is run.
pub fn command_line(kernel: &Kernel, of: &GuestPlan) -> Vec<String> {
    let mut words: Vec<String> = [
        "time-travel=ext:1:clock",
        "virtio_uml.device=card:1",
        "hostfs=/proc/self/cwd",
        "uml_dir=./",
        "umid=uml",
        "rootfstype=hostfs",
        "root=/dev/root",
        "rw",
        "init=/init",
        "con0=fd:0,fd:1",
        "panic=-1",
        "oops=panic",
        "net.ifnames=0",
    ]
    .map(str::to_owned)
    .to_vec();
    words.insert(0, format!("mem={}M", of.guest.memory));
    if kernel.has("ring") {
        words.push(format!("virtio_uml.tx_ring={}", of.ring));
    }
    if kernel.has("pacing-shift") && of.pacing_shift != crate::plan::SHIFT {
        words.push(format!("virtio_net.pacing_shift={}", of.pacing_shift));
    }
    if kernel.has("tsq") && !of.small_queues {
        words.push("tcp_output.notsq=1".to_owned());
    }
    words
}

impl Guest {
    /// Starts one in a new folder; `orders` are its first program's.
    pub fn start(
        folder: PathBuf,
        number: usize,
        of: &GuestPlan,
        kernel: &Kernel,
        orders: &str,
        seed: u64,
        patience: u32,
    ) -> Result<Self, String> {
        let at = |e: std::io::Error| format!("{}: {}", folder.display(), crate::sys::reason(&e));
        for name in ["dev", "proc", "sys", "tmp", "host", BOX] {
            fs::create_dir_all(folder.join(name)).map_err(at)?;
        }
        std::os::unix::fs::symlink("/", folder.join("root")).map_err(at)?;
        fs::copy(kernel.folder.join("init"), folder.join("init")).map_err(at)?;
        fs::write(folder.join("plan"), orders).map_err(at)?;
        let listen = |name| UnixListener::bind(folder.join(name)).map_err(at);
        let listeners = (listen("clock")?, listen("card")?);
        let console = File::create(folder.join(CONSOLE)).map_err(at)?;
        let path = |name: &str| kernel.folder.join(name).display().to_string();
        let mut words = Vec::new();
        if kernel.folder.join("launch").is_file() {
            words.extend([path("launch"), folder.display().to_string()]);
        }
        words.push(path("linux"));
        words.extend(command_line(kernel, of));
        let environment = [
            ("LD_PRELOAD", path("seed.so")),
            ("STILLAIR_SEED", seed.to_string()),
            ("HOME", "/tmp".to_owned()),
            ("TMPDIR", "/dev/shm".to_owned()),
            ("PATH", "/usr/bin:/bin".to_owned()),
        ];
        let child = start(&words, &folder, &environment, console)?;
        Ok(Self {
            name: of.name.clone(),
            folder,
            child,
            listeners: Some(listeners),
            clock: None,
            card: None,
            offered: features(of.guest.offload, of.guest.rx_buffers),
            address: address(number),
            shares_page: kernel.shares_page,
            backlog: VecDeque::new(),
            given: [false; 2],
            kicked_at: 0,
            patience_ms: i32::try_from(patience.saturating_mul(1000)).unwrap_or(i32::MAX),
            is_off: false,
        })
    }

    /// Lets it boot until it is so old, in ns; what it sends meanwhile is lost.
    pub fn boot(&mut self, until: u64) -> Result<(), String> {
        let (clock, card) = self.listeners.take().ok_or("it boots once")?;
        let connection = self.accept(&clock)?;
        self.clock = Some(Clock::new(connection, until, self.shares_page, self.patience_ms)?);
        // Its card comes some time after its clock, and neither waits for the other.
        let mut nobody = |_: &mut Self, _, _| Ok(until);
        loop {
            if self.card.is_none() {
                match ready(
                    &[self.clock()?.fd(), card.as_raw_fd(), self.child.as_raw_fd()],
                    self.patience_ms,
                )? {
                    Ready::At(1) => {
                        let connection = self.accept(&card)?;
                        self.card = Some(Card::new(connection, self.offered, self.address));
                    }
                    Ready::At(0) => self.listen(&mut nobody).map(|_| ())?,
                    Ready::At(_) => return Err(self.ended()),
                    Ready::Nothing => return Err(crate::silent(self.patience_ms)),
                }
            } else {
                self.listen(&mut nobody)?;
            }
            if self.clock()?.runs() {
                continue;
            }
            match self.request() {
                Some(at) if at < until => {
                    self.clock()?.run(at, until)?;
                }
                _ => break,
            }
        }
        if self.card.is_none() {
            return Err("it has come up without its network card".to_owned());
        }
        if !self.folder.join(BOX).join("ready").is_file() {
            return Err("its first program did not come up".to_owned());
        }
        match self.clock()?.is_shared() {
            true => Ok(()),
            false => Err("its kernel did not take the page that it was to share".to_owned()),
        }
    }

    fn accept(&mut self, listener: &UnixListener) -> Result<Socket, String> {
        match ready(&[listener.as_raw_fd(), self.child.as_raw_fd()], self.patience_ms)? {
            Ready::At(0) => {}
            Ready::At(_) => return Err(self.ended()),
            Ready::Nothing => return Err(crate::silent(self.patience_ms)),
        }
        let (stream, _) = listener.accept().map_err(|e| crate::sys::reason(&e))?;
        Ok(Socket::from(OwnedFd::from(stream)))
    }

    fn clock(&mut self) -> Result<&mut Clock, String> {
        self.clock.as_mut().ok_or_else(|| "a guest without a clock".to_owned())
    }

    /// Its card, when it has booted.
    pub fn card(&mut self) -> Result<&mut Card, String> {
        self.card.as_mut().ok_or_else(|| "a guest without a card".to_owned())
    }

    /// When it wants to run next, as its own age in ns; none when it has gone off.
    pub fn request(&self) -> Option<u64> {
        if self.is_off { None } else { self.clock.as_ref().and_then(Clock::request) }
    }

    /// Its age when its card last said something, in ns.
    pub fn kicked_at(&self) -> u64 {
        self.kicked_at
    }

    /// It has gone off by itself.
    pub fn is_off(&self) -> bool {
        self.is_off
    }

    fn ended(&mut self) -> String {
        let how = self.child.ended().unwrap_or_else(|| "it has closed its connections".to_owned());
        format!("its kernel has ended: {how}")
    }

    /// Gives it a turn at a time; before `free_until` it goes on by itself, until it waits for another turn. `on_kick` gets what its card says.
    pub fn turn(&mut self, at: u64, free_until: u64, on_kick: &mut OnKick<'_>) -> Result<(), String> {
        if !self.clock()?.run(at, free_until)? {
            return Err(self.ended());
        }
        while !self.is_off && self.clock()?.runs() {
            self.listen(on_kick)?;
        }
        Ok(())
    }

    /// Takes the next thing that it says.
    fn listen(&mut self, on_kick: &mut OnKick<'_>) -> Result<(), String> {
        let clock = self.clock()?.fd();
        let child = self.child.as_raw_fd();
        let all = [clock, self.card.as_ref().map_or(child, Card::fd), child];
        match ready(&all, self.patience_ms)? {
            Ready::At(0) => match self.clock()?.hear()? {
                Said::Gone => self.gone(),
                Said::Something | Said::Waits => Ok(()),
            },
            Ready::At(1) if self.card.is_some() => match self.card()?.hear()? {
                Heard::Setup => Ok(()),
                Heard::Gone => self.gone(),
                Heard::Kick(ring) => {
                    let now = self.clock()?.now();
                    self.kicked_at = now;
                    let free_until = on_kick(self, ring, now)?;
                    if !self.clock()?.free_until(free_until)? {
                        return self.gone();
                    }
                    self.card()?.answer()
                }
            },
            Ready::At(_) => self.gone(),
            Ready::Nothing => Err(crate::silent(self.patience_ms)),
        }
    }

    /// It has gone, which is right when its first program says that all is done.
    fn gone(&mut self) -> Result<(), String> {
        self.is_off = true;
        if self.folder.join(BOX).join("done").is_file() {
            return Ok(());
        }
        // A moment after its connections the process itself ends.
        let _ = ready(&[self.child.as_raw_fd()], 2_000);
        Err(self.ended())
    }

    /// A frame is for it.
    pub fn receive(&mut self, frame: &[u8]) -> Result<(), String> {
        if self.backlog.is_empty() && self.card()?.receive(frame)? {
            self.given[RX] = true;
            return Ok(());
        }
        if self.backlog.is_empty() {
            self.card()?.wait_for_room(true)?;
        }
        self.backlog.push_back(frame.to_vec());
        Ok(())
    }

    /// It has offered buffers for frames.
    pub fn has_room(&mut self) -> Result<(), String> {
        while let Some(frame) = self.backlog.pop_front() {
            if !self.card()?.receive(&frame)? {
                self.backlog.push_front(frame);
                return Ok(());
            }
            self.given[RX] = true;
        }
        self.card()?.wait_for_room(false)
    }

    /// A frame of its own has been sent, or lost.
    pub fn sent(&mut self, head: u16) -> Result<(), String> {
        self.given[TX] = true;
        self.card()?.sent(head)
    }

    /// Whether there is something that it does not know of.
    pub fn is_due(&self) -> bool {
        !self.is_off && (self.given[RX] || self.given[TX])
    }

    /// Tells it, at a time in its own age, what has been given back; then it asks for a turn at that time. It waits for a turn.
    pub fn interrupt(&mut self, now: u64) -> Result<(), String> {
        self.clock()?.stop_at(now);
        for ring in [RX, TX] {
            if !core::mem::take(&mut self.given[ring]) || !self.card()?.publish(ring)? {
                continue;
            }
            self.card()?.call(ring)?;
            loop {
                let child = self.child.as_raw_fd();
                let answers = self.card()?.answers().unwrap_or(child);
                match ready(&[answers, self.clock()?.fd(), child], self.patience_ms)? {
                    Ready::At(0) => {
                        if !self.card()?.answered()? {
                            return self.gone();
                        }
                        break;
                    }
                    Ready::At(1) => {
                        if self.clock()?.hear()? == Said::Gone {
                            return self.gone();
                        }
                    }
                    Ready::At(_) => return self.gone(),
                    Ready::Nothing => return Err(crate::silent(self.patience_ms)),
                }
            }
        }
        Ok(())
    }

    /// A file that it has written; none if there is none.
    pub fn file(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        match fs::read(self.folder.join(BOX).join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(format!("{name}: {}", crate::sys::reason(&e))),
        }
    }

    /// The folder with all that it has written.
    pub fn written(&self) -> PathBuf {
        self.folder.join(BOX)
    }

    /// An error of it, with the last lines of its console.
    pub fn tell(&self, why: &str) -> String {
        format!("node.{}: {why}{}", self.name, last_lines(&self.folder.join(CONSOLE)))
    }

    /// What its console says so far.
    pub fn console(&self) -> String {
        fs::read(self.folder.join(CONSOLE))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }
}

fn last_lines(console: &Path) -> String {
    let text =
        fs::read(console).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    if last.is_empty() {
        "; its console is empty".to_owned()
    } else {
        format!("; its console ends with\n  {}", last.join("\n  "))
    }
}
