"""`stillair validate`: compares the model with measurements of the real kernel.

The measurements are in `linux/` and `mac80211/`. `docs/validation.md` documents the quantities and
tolerances.

    command      the runs and their report
    guests       the same runs with real kernels at both ends
    wifi         the same for the real mac80211
    compare      a row for each quantity
    bounds       allowed differences
    quantities   the same statistics for both sides
    outcome      results of a simulated run
    scenario     scenario of a measured run
    kernel_file  a file of the kernel's measurements
    settings     effects of `sysctl` settings
    tc           parses `tc` commands
    batch        parallel runs
    json_file    measurements as JSON
"""
