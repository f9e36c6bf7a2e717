//! Assigns each object of a world to an island, and each island to one of several worlds.

/// Island of each object, indexed by the object's number.
#[derive(Debug)]
pub struct Islands {
    /// Number of islands.
    pub count: u16,
    /// Island of each interface of the scenario, followed by those of the ifbs.
    pub(super) interfaces: Vec<u16>,
    pub(super) devs: Vec<u16>,
    pub(super) radios: Vec<u16>,
    pub(super) channels: Vec<u16>,
    pub(super) wires: Vec<u16>,
    /// Island of each application. Each flow has one application.
    pub(super) apps: Vec<u16>,
    pub(super) stations: Vec<u16>,
}

impl Islands {
    /// Distributes the islands over at most `most` worlds, balancing their load. Returns the world of each
    /// island.
    pub fn worlds(&self, most: usize) -> Vec<u16> {
        let mut work: Vec<(usize, u16)> = (0..self.count).map(|island| (0, island)).collect();
        self.apps.iter().chain(&self.devs).for_each(|&island| work[usize::from(island)].0 += 1);
        // Largest island first, each to the least loaded world.
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

    /// Returns the number of interfaces of the scenario, including ifb devices.
    pub fn interfaces(&self) -> usize {
        self.interfaces.len()
    }
}

/// One of several worlds of a scenario and the world of each island.
pub(super) struct Owned<'a> {
    pub(super) islands: &'a Islands,
    pub(super) worlds: &'a [u16],
    pub(super) world: u16,
}

impl Owned<'_> {
    /// Moves the objects of this world from `theirs` to `ours`; `whose` holds the island of each object.
    pub(super) fn take<T>(&self, ours: &mut [T], theirs: Vec<T>, whose: &[u16]) {
        debug_assert_eq!((ours.len(), whose.len()), (theirs.len(), whose.len()));
        for ((to, from), &island) in ours.iter_mut().zip(theirs).zip(whose) {
            if self.worlds[usize::from(island)] == self.world {
                *to = from;
            }
        }
    }
}
