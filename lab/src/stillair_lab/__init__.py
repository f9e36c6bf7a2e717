"""Evidence about Stillair: published experiments run and judged, and the model beside measurements of real kernels.

The package depends on `stillair`, which finds the commands here by entry points and knows nothing else of it.

    cli       `stillair paper`, `stillair validate`
    papers    published experiments, run and judged
    validate  runs beside measurements of the real kernel and of the real mac80211
    sawtooth  period and depth of a congestion window's saw
"""
