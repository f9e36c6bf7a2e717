"""A scenario made of what a machine tells of its network: outputs of iw, tc, sysctl and ethtool, settings, captures.

A reader takes one kind of file, says what is wrong line by line, and gives facts, each with its place. What is guessed
stands in the scenario as a comment.

    doctor    what this machine tells of itself, and what each thing weighs
    scenario  the text of the scenario
    network   what all files say together
    kinds     which reader a file is for, by its content
    iw        `iw dev ... station dump`, `... link`, `... info`, `iw phy`
    unread    what files say and a scenario does not have
    qdiscs    `tc -j -s qdisc`
    settings  `sysctl`, `ethtool`, `hostapd.conf`, `uname`
    openwrt   OpenWrt's /etc/config/wireless and sqm
    captures  a capture with radiotap
    loads     a Flent file or a crusader result: its test is the load
    rates     a bit rate as a scenario names it, and how long a PPDU is
    facts     what readers give
    lines     mistakes of a file, a line each
"""
