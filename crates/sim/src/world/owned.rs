//! The island of each object of a world, and the world that owns it if a scenario has several.

/// The islands of a scenario, by the numbers of the world.
#[derive(Debug)]
pub struct Islands {
    /// Number of islands.
    pub count: u16,
    /// By interface, behind those of the scenario by ifb: its island.
    pub(super) interfaces: Vec<u16>,
    /// By device.
    pub(super) devs: Vec<u16>,
    /// By radio.
    pub(super) radios: Vec<u16>,
    /// By channel.
    pub(super) channels: Vec<u16>,
    /// By wire.
    pub(super) wires: Vec<u16>,
    /// By application, which is one for each flow.
    pub(super) apps: Vec<u16>,
    /// By station.
    pub(super) stations: Vec<u16>,
}

impl Islands {
    /// Distributes the islands over at most `most` worlds by their load. Returns the world of each island.
    pub fn worlds(&self, most: usize) -> Vec<u16> {
        let mut work: Vec<(usize, u16)> = (0..self.count).map(|island| (0, island)).collect();
        self.apps.iter().chain(&self.devs).for_each(|&island| work[usize::from(island)].0 += 1);
        // The greatest first, each to who has least to do.
        work.sort_unstable_by_key(|&(work, island)| (core::cmp::Reverse(work), island));
        let mut busy = vec![0; most.clamp(1, work.len())];
        let mut worlds = vec![0; work.len()];
        for (work, island) in work {
            let world = (0..busy.len()).min_by_key(|&n| busy[n]).expect("a world at least");
            busy[world] += work;
            worlds[usize::from(island)] = world as u16;
        }
        worlds
    }

    /// Number of interfaces of the scenario, ifb devices included.
    pub fn interfaces(&self) -> usize {
        self.interfaces.len()
    }
}

/// Which of several worlds of one scenario things belong to: by island its world.
pub(super) struct Owned<'a> {
    pub(super) islands: &'a Islands,
    pub(super) worlds: &'a [u16],
    pub(super) world: u16,
}

impl Owned<'_> {
    /// Takes from `theirs` what is of that world, by `whose` has its island.
    pub(super) fn take<T>(&self, ours: &mut [T], theirs: Vec<T>, whose: &[u16]) {
        debug_assert_eq!((ours.len(), whose.len()), (theirs.len(), whose.len()));
        for ((to, from), &island) in ours.iter_mut().zip(theirs).zip(whose) {
            if self.worlds[usize::from(island)] == self.world {
                *to = from;
            }
        }
    }
}
