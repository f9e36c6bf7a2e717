"""Parts of a network, each from the facts of all files.

peers     interfaces and their stations: names, repeated outputs, types that are not modelled
stations  keys of stations, from dumps and captures
radios    the configured radio that an interface belongs to
shaping   the router's shaper and its wired qdisc, from `tc` and sqm
sides     which direction a shaping qdisc is for, and the side of a device
probe     options that a scenario accepts
unmapped  facts without a scenario key
parts     the structure that the others fill
"""
