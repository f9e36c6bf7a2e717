"""Evidence for Stillair: published experiments run and judged, and comparisons with measurements of real kernels.

Depends on `stillair`, which finds the commands here through entry points.

    cli       `stillair paper`, `stillair validate`
    papers    published experiments, run and judged
    validate  comparisons with measurements of the real kernel and of the real mac80211
    sawtooth  period and depth of a congestion window's sawtooth
"""
