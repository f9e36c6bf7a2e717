//! One guest: process, folder, turns, and interrupts of its card.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use stillair_ip::Error as PacketError;
use thiserror::Error;

use crate::Silent;
use crate::card::{Card, CardError, Heard, RX, TX, features};
use crate::clock::{Clock, ClockError, Said};
use crate::kernel::Kernel;
use crate::plan::GuestPlan;
use crate::sys::{Child, Ready, Socket, SysError, ready, reason, start};

/// A failure of a guest.
#[derive(Debug, Error)]
pub enum GuestError {
    /// A file of the guest's folder cannot be created.
    #[error("{}: {}", folder.display(), reason(source))]
    Folder {
        /// Folder of the guest.
        folder: PathBuf,
        /// The failure.
        source: std::io::Error,
    },
    /// A file that the guest has written cannot be read.
    #[error("{name}: {}", reason(source))]
    File {
        /// Name of the file.
        name: String,
        /// The failure.
        source: std::io::Error,
    },
    /// The guest's connection was not accepted.
    #[error("{}", reason(.0))]
    Accept(std::io::Error),
    /// The guest was booted twice.
    #[error("the guest has already booted")]
    Booted,
    /// The guest has not connected its clock.
    #[error("a guest without a clock")]
    NoClock,
    /// The guest has not connected this card.
    #[error("a guest without a card")]
    NoCard,
    /// A card did not connect during the boot.
    #[error("booted without its network card")]
    BootedWithoutCard,
    /// The first program did not start.
    #[error("its first program did not start")]
    NoFirstProgram,
    /// The kernel does not use the shared clock page.
    #[error("its kernel did not accept the shared clock page")]
    NoPage,
    /// The kernel has ended.
    #[error("its kernel has ended: {0}")]
    Ended(String),
    /// The guest got too many turns at one time.
    #[error("{turns} turns at the same time, {at} ns: the guest is in an endless loop")]
    Spins {
        /// Number of turns.
        turns: u64,
        /// Time in ns since the start of the scenario.
        at: u64,
    },
    /// The guest did not power off after the scenario.
    #[error("still running 10 s after the end of the scenario")]
    NotOff,
    /// A packet cannot be split into segments.
    #[error("a packet of several segments that cannot be split: {0}")]
    Segments(PacketError),
    /// The guest hangs.
    #[error(transparent)]
    Silent(#[from] Silent),
    /// A card failed.
    #[error(transparent)]
    Card(#[from] CardError),
    /// The clock failed.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// A failure of a guest during a run.
#[derive(Debug, Error)]
#[error("node.{node}: {source}{console}")]
pub struct NodeError {
    /// Name of the host.
    pub node: String,
    /// The failure.
    pub source: GuestError,
    /// The last lines of the guest's console, as the end of a message.
    pub console: String,
}

/// Console lines quoted in error messages.
const LINES: usize = 12;
/// Console log file in a guest's folder.
const CONSOLE: &str = "console.log";
/// Folder in which the guest stores measurements and the output of its programs.
pub const BOX: &str = "box";

/// A guest: a User Mode Linux process.
#[derive(Debug)]
pub struct Guest {
    /// Name of the host.
    pub name: String,
    folder: PathBuf,
    child: Child,
    listeners: Option<(UnixListener, Vec<UnixListener>)>,
    clock: Option<Clock>,
    /// Cards by interface.
    slots: Vec<Slot>,
    shares_page: bool,
    /// Guest's age at the last message from its card.
    kicked_at: u64,
    /// Longest wait for a message, in ms.
    patience_ms: i32,
    /// True if the guest has powered off.
    is_off: bool,
}

/// Connection state of a guest's card.
#[derive(Debug)]
struct Slot {
    card: Option<Card>,
    offered: u64,
    address: [u8; 6],
    /// Frames that found no receive buffer.
    backlog: VecDeque<Vec<u8>>,
    /// Per ring: true if buffers have been returned without notifying the guest.
    given: [bool; 2],
}

/// Callback for a notification by a guest's card: guest and card number, and time in ns. Returns the time
/// until which the guest may continue without asking.
pub type OnKick<'a> = dyn FnMut(&mut Guest, (usize, usize), u64) -> Result<u64, GuestError> + 'a;

/// MAC address of a guest's card, derived from the guest and card numbers.
pub fn address(guest: usize, card: usize) -> [u8; 6] {
    let [.., a, b] = (guest as u32).to_be_bytes();
    [0x02, 0x73, 0x74, 0x6c ^ (card as u8) << 1, a, b]
}

/// File name of a card's socket in a guest's folder.
fn socket_name(card: usize) -> String {
    if card == 0 { "card".to_owned() } else { format!("card{card}") }
}

/// Command line of a guest's kernel. It seeds the kernel's random numbers, so it does not depend on where
/// or when the guest runs.
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
    let shifts = of.interfaces.iter().map(|interface| interface.pacing_shift);
    if kernel.has("pacing-shift") && shifts.clone().any(|shift| shift != crate::plan::SHIFT) {
        let all: Vec<String> = shifts.map(|shift| shift.to_string()).collect();
        words.push(format!("virtio_net.pacing_shift={}", all.join(",")));
    }
    words.extend((1..of.interfaces.len()).map(|n| format!("virtio_uml.device={}:1", socket_name(n))));
    if kernel.has("tsq") && !of.small_queues {
        words.push("tcp_output.notsq=1".to_owned());
    }
    if kernel.has("header-room") {
        words.push(format!("tcp.header_room={}", of.header_room));
    }
    if kernel.has("tsq-limit") {
        if of.periods != 1 {
            words.push(format!("tcp_output.tsq_periods={}", of.periods));
        }
        words.extend(of.guest.tsq_bytes.map(|bytes| format!("tcp_output.tsq_bytes={bytes}")));
    }
    words
}

impl Guest {
    /// Starts a guest in a new folder. `orders` are the orders for its first program.
    pub fn start(
        folder: PathBuf,
        number: usize,
        of: &GuestPlan,
        kernel: &Kernel,
        orders: &str,
        seed: u64,
        patience: u32,
    ) -> Result<Self, GuestError> {
        let at = |source: std::io::Error| GuestError::Folder { folder: folder.clone(), source };
        for name in ["dev", "proc", "sys", "tmp", "host", BOX] {
            fs::create_dir_all(folder.join(name)).map_err(at)?;
        }
        std::os::unix::fs::symlink("/", folder.join("root")).map_err(at)?;
        fs::copy(kernel.folder.join("init"), folder.join("init")).map_err(at)?;
        fs::write(folder.join("plan"), orders).map_err(at)?;
        let listen = |name: &str| UnixListener::bind(folder.join(name)).map_err(at);
        let cards = (0..of.interfaces.len()).map(|n| listen(&socket_name(n)));
        let listeners = (listen("clock")?, cards.collect::<Result<_, GuestError>>()?);
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
            slots: (0..of.interfaces.len())
                .map(|n| Slot {
                    card: None,
                    offered: features(of.guest.offload, of.guest.rx_buffers),
                    address: address(number, n),
                    backlog: VecDeque::new(),
                    given: [false; 2],
                })
                .collect(),
            shares_page: kernel.shares_page,
            kicked_at: 0,
            patience_ms: i32::try_from(patience.saturating_mul(1000)).unwrap_or(i32::MAX),
            is_off: false,
        })
    }

    /// Boots the guest until its clock is at `until`, in ns. Packets sent during the boot are dropped.
    pub fn boot(&mut self, until: u64) -> Result<(), GuestError> {
        let (clock, cards) = self.listeners.take().ok_or(GuestError::Booted)?;
        let connection = self.accept(&clock)?;
        self.clock = Some(Clock::new(connection, until, self.shares_page, self.patience_ms)?);
        // Cards connect some time after the clock, one after the other and independently.
        let mut nobody = |_: &mut Self, _, _| Ok(until);
        loop {
            match self.slots.iter().position(|slot| slot.card.is_none()) {
                Some(next) => {
                    let clock = self.clock.as_ref().ok_or(GuestError::NoClock)?;
                    let connected = self.slots.iter().filter_map(|slot| slot.card.as_ref());
                    let mut all = vec![clock.fd(), cards[next].as_fd()];
                    all.extend(connected.map(Card::fd));
                    let child = all.len();
                    all.push(self.child.as_fd());
                    match ready(all, self.patience_ms)? {
                        Ready::At(1) => {
                            let connection = self.accept(&cards[next])?;
                            let slot = &mut self.slots[next];
                            slot.card = Some(Card::new(connection, slot.offered, slot.address));
                        }
                        Ready::At(n) if n < child => self.listen(&mut nobody).map(|_| ())?,
                        Ready::At(_) => return Err(self.ended()),
                        Ready::Nothing => return Err(Silent { ms: self.patience_ms }.into()),
                    }
                }
                None => self.listen(&mut nobody)?,
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
        if self.slots.iter().any(|slot| slot.card.is_none()) {
            return Err(GuestError::BootedWithoutCard);
        }
        if !self.folder.join(BOX).join("ready").is_file() {
            return Err(GuestError::NoFirstProgram);
        }
        match self.clock()?.is_shared() {
            true => Ok(()),
            false => Err(GuestError::NoPage),
        }
    }

    fn accept(&mut self, listener: &UnixListener) -> Result<Socket, GuestError> {
        match ready([listener.as_fd(), self.child.as_fd()], self.patience_ms)? {
            Ready::At(0) => {}
            Ready::At(_) => return Err(self.ended()),
            Ready::Nothing => return Err(Silent { ms: self.patience_ms }.into()),
        }
        let (stream, _) = listener.accept().map_err(GuestError::Accept)?;
        Ok(Socket::from(OwnedFd::from(stream)))
    }

    fn clock(&mut self) -> Result<&mut Clock, GuestError> {
        self.clock.as_mut().ok_or(GuestError::NoClock)
    }

    /// A card of the guest. Available after the boot.
    pub fn card(&mut self, number: usize) -> Result<&mut Card, GuestError> {
        self.slots[number].card.as_mut().ok_or(GuestError::NoCard)
    }

    /// The time at which the guest wants to run next, in ns on its own clock; `None` if it has powered off.
    pub fn request(&self) -> Option<u64> {
        if self.is_off { None } else { self.clock.as_ref().and_then(Clock::request) }
    }

    /// Time of the last message from its card, in ns on its own clock.
    pub fn kicked_at(&self) -> u64 {
        self.kicked_at
    }

    /// Returns true if the guest has powered off.
    pub fn is_off(&self) -> bool {
        self.is_off
    }

    fn ended(&mut self) -> GuestError {
        let how = self.child.ended().unwrap_or_else(|| "it closed its connections".to_owned());
        GuestError::Ended(how)
    }

    /// Gives the guest a turn at `at`. The guest may continue until `free_until`; the turn ends when the
    /// guest waits for the next one. `on_kick` handles notifications by its cards.
    pub fn turn(&mut self, at: u64, free_until: u64, on_kick: &mut OnKick<'_>) -> Result<(), GuestError> {
        if !self.clock()?.run(at, free_until)? {
            return Err(self.ended());
        }
        while !self.is_off && self.clock()?.runs() {
            self.listen(on_kick)?;
        }
        Ok(())
    }

    /// Handles the guest's next message.
    fn listen(&mut self, on_kick: &mut OnKick<'_>) -> Result<(), GuestError> {
        // Clock first, then connected cards, then the process.
        let clock = self.clock.as_ref().ok_or(GuestError::NoClock)?;
        let cards = || self.slots.iter().map_while(|slot| slot.card.as_ref()).map(Card::fd);
        let count = cards().count();
        let all = [clock.fd()].into_iter().chain(cards()).chain([self.child.as_fd()]);
        match ready(all, self.patience_ms)? {
            Ready::At(0) => match self.clock()?.hear()? {
                Said::Gone => self.gone(),
                Said::Something | Said::Waits => Ok(()),
            },
            Ready::At(n) if n <= count => match self.card(n - 1)?.hear()? {
                Heard::Setup => Ok(()),
                Heard::Gone => self.gone(),
                Heard::Kick(ring) => {
                    let now = self.clock()?.now();
                    self.kicked_at = now;
                    let free_until = on_kick(self, (n - 1, ring), now)?;
                    if !self.clock()?.free_until(free_until)? {
                        return self.gone();
                    }
                    Ok(self.card(n - 1)?.answer()?)
                }
            },
            Ready::At(_) => self.gone(),
            Ready::Nothing => Err(Silent { ms: self.patience_ms }.into()),
        }
    }

    /// Handles the end of the guest, which is expected once its first program has reported completion.
    fn gone(&mut self) -> Result<(), GuestError> {
        self.is_off = true;
        if self.folder.join(BOX).join("done").is_file() {
            return Ok(());
        }
        // The process ends shortly after closing its connections.
        let _ = ready([self.child.as_fd()], 2_000);
        Err(self.ended())
    }

    /// Delivers a frame to one of its cards.
    pub fn receive(&mut self, card: usize, frame: &[u8]) -> Result<(), GuestError> {
        let is_first = self.slots[card].backlog.is_empty();
        if is_first && self.card(card)?.receive(frame)? {
            self.slots[card].given[RX] = true;
            return Ok(());
        }
        if is_first {
            self.card(card)?.wait_for_room(true)?;
        }
        self.slots[card].backlog.push_back(frame.to_vec());
        Ok(())
    }

    /// Handles a notification that the guest has offered receive buffers.
    pub fn has_room(&mut self, card: usize) -> Result<(), GuestError> {
        while let Some(frame) = self.slots[card].backlog.pop_front() {
            if !self.card(card)?.receive(&frame)? {
                self.slots[card].backlog.push_front(frame);
                return Ok(());
            }
            self.slots[card].given[RX] = true;
        }
        Ok(self.card(card)?.wait_for_room(false)?)
    }

    /// Returns the buffer of a frame that was sent or dropped.
    pub fn sent(&mut self, card: usize, head: u16) -> Result<(), GuestError> {
        self.slots[card].given[TX] = true;
        Ok(self.card(card)?.sent(head)?)
    }

    /// Returns true if the guest must be notified of a change.
    pub fn is_due(&self) -> bool {
        !self.is_off && self.slots.iter().any(|slot| slot.given[RX] || slot.given[TX])
    }

    /// Notifies the guest of returned buffers at `now`, on its own clock. The guest then requests a turn at
    /// that time. The guest must be waiting for a turn.
    pub fn interrupt(&mut self, now: u64) -> Result<(), GuestError> {
        self.clock()?.stop_at(now);
        for (card, ring) in (0..self.slots.len()).flat_map(|card| [(card, RX), (card, TX)]) {
            if !core::mem::take(&mut self.slots[card].given[ring]) || !self.card(card)?.publish(ring)? {
                continue;
            }
            self.card(card)?.call(ring)?;
            loop {
                let child = self.child.as_fd();
                let clock = self.clock.as_ref().ok_or(GuestError::NoClock)?;
                let answers = self.slots[card].card.as_ref().and_then(Card::answers).unwrap_or(child);
                match ready([answers, clock.fd(), child], self.patience_ms)? {
                    Ready::At(0) => {
                        if !self.card(card)?.answered()? {
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
                    Ready::Nothing => return Err(Silent { ms: self.patience_ms }.into()),
                }
            }
        }
        Ok(())
    }

    /// Content of a file that the guest has written; `None` if there is no such file.
    pub fn file(&self, name: &str) -> Result<Option<Vec<u8>>, GuestError> {
        match fs::read(self.folder.join(BOX).join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(GuestError::File { name: name.to_owned(), source }),
        }
    }

    /// Output of one of its programs.
    pub fn said(&self, id: &str) -> Result<String, GuestError> {
        let bytes = self.file(&format!("{id}.out"))?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Folder with all files that the guest has written.
    pub fn written(&self) -> PathBuf {
        self.folder.join(BOX)
    }

    /// Wraps an error with the name of the host and the last lines of the guest's console.
    pub fn failed(&self, source: GuestError) -> NodeError {
        NodeError { node: self.name.clone(), source, console: last_lines(&self.folder.join(CONSOLE)) }
    }

    /// Console output so far.
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
