"""`stillair validate`: the model held against measurements of the real thing.

The measurements are in `linux/` and `mac80211/`. What is compared and tolerated stands in `docs/validation.md`.

    command      the runs and their report
    guests       the same runs with real kernels at both ends
    wifi         the same for the real mac80211
    compare      a row for each quantity
    bounds       how far is too far
    quantities   the same statistics from both
    outcome      what a run of ours reports
    scenario     from a kernel's settings to ours
    kernel_file  a file of the kernel's measurements
    settings     what a `sysctl` changes
    tc           `tc` commands read
    batch        runs side by side
    json_file    measurements as JSON
"""
