"""A scenario from files of a real network: outputs of iw, tc, sysctl and ethtool, settings, captures.

A reader accepts one kind of file and returns facts with their file and line, or reports each line that it cannot read.
The scenario marks guesses in comments.

    doctor    settings of this machine, and the effect of each
    scenario  text of the scenario
    network   one network from the facts of all files
    assembly  its parts: stations, radios, shapers, facts that are left out
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
