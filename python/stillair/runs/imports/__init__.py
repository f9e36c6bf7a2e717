"""A scenario made of what a machine tells of its network: outputs of iw, tc, sysctl and ethtool, settings, captures.

A reader takes one kind of file, says what is wrong line by line, and gives facts, each with its place. What is guessed
stands in the scenario as a comment.

    doctor    settings of this machine, and the effect of each
    scenario  text of the scenario
    network   one network from the facts of all files
    together  its parts: stations, radios, shapers, facts that are left out
    kinds     the reader of each part of a file
    pasted    text as people paste it, cut into single outputs
    readers   text and JSON of single outputs: iw, tc, iwinfo, ubus, hostapd, ip
    qdiscs    `tc -j`, and the scenario keys of each discipline
    openwrt   OpenWrt's /etc/config/wireless, sqm and network
    captures  a capture with radiotap
    loads     a Flent file or a crusader result: its test is the load
    rates     bit rates and widths as a scenario names them, and how long a PPDU is
    lines     lines that cannot be read: mistakes and unrecognised lines
    facts     the values that readers return
"""
