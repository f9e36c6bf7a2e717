"""Parts of a network, each from the facts of all files.

peers     interfaces and their stations: names, repeated outputs, types that are not modelled
stations  station keys, from dumps and captures
radios    the configured radio of an interface
shaping   the router's shaper and its wired qdisc, from `tc` and sqm
sides     direction of a shaping qdisc, and the side of a device
probe     options that a scenario accepts
unmapped  facts without a scenario key
parts     the data structures
"""
