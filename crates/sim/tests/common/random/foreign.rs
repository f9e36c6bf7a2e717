//! Other users of a random network's channel. Most of them stop with the network's sources or soon after,
//! because a busy channel takes long to drain.

/// Interference and neighbours; true with interference, for which each path needs an SNR.
pub const FOREIGN: [(&str, bool); 6] = [
    ("", false),
    (
        "[neighbour.flat]\nchannel = \"wifi\"\nload = [0.3, { at = \"100 ms\", load = 1.0 }, { at = \"200 ms\", load = 0 }]\n\
         frame = \"1.2 ms\"\nsenders = 3\nqueue = 4\n",
        false,
    ),
    (
        "[neighbour.a]\nchannel = \"wifi\"\nload = [0.2, { at = \"300 ms\", load = 0 }]\nframe = \"24 us\"\n[neighbour.b]\nchannel = \"wifi\"\nload = [0.4, { at = \"300 ms\", load = 0 }]\n\
         frame = \"5.484 ms\"\nsenders = 2\n",
        false,
    ),
    (
        "[interference.oven]\nchannel = \"wifi\"\npower = \"-55 dBm\"\npattern = \"microwave\"\nstart = \"30 ms\"\nstop = \"333 ms\"\n",
        true,
    ),
    (
        "[interference.quiet]\nchannel = \"wifi\"\npower = \"-80 dBm\"\n\
         pattern = { kind = \"random\", on = \"200 us\", off = \"300 us\" }\nstop = \"900 ms\"\n\
         [interference.loud]\nchannel = \"wifi\"\npower = \"-60 dBm\"\npattern = { kind = \"cycle\", on = \"10 us\", period = \"150 us\" }\nstop = \"500 ms\"\n",
        true,
    ),
    (
        "[interference.near]\nchannel = \"wifi\"\npower = \"-62.5 dBm\"\npattern = { kind = \"random\", on = \"3 ms\", off = \"2 ms\" }\nstop = \"1 s\"\n\
         [interference.far]\nchannel = \"wifi\"\npower = \"-72 dBm\"\n\
         [neighbour.flat]\nchannel = \"wifi\"\nload = [0.5, { at = \"350 ms\", load = 0 }]\nframe = \"700 us\"\nsenders = 2\n",
        true,
    ),
];
