"""`stillair validate wifi`: compares the model with the real mac80211 over a simulated radio.

The same steps as for the kernel's queueing disciplines, with stations instead of hosts.

    command     the runs and their report
    report      comparisons as text
    compare     a row for each quantity of each unit
    quantities  the same statistics for both sides
    outcome     results of a simulated run
    scenario    scenario of a measured run
    units       groups of equal stations
    bounds      allowed differences
    measured    a file of mac80211's measurements
"""
