"""`stillair validate wifi`: the model held against the real mac80211 over a simulated radio.

The same steps as for the kernel's own disciplines, with stations in place of hosts.

    command     the runs and their report
    report      comparisons as text
    compare     a row for each quantity of each unit
    quantities  the same statistics from both
    outcome     what a run of ours reports
    scenario    from a kernel's settings to ours
    units       which stations are alike
    bounds      how far is too far
    measured    a file of mac80211's measurements
"""
