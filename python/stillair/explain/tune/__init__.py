"""Searches the best settings of a network, confirms them with several seeds, and measures each change's share.

Changes only settings that an administrator can change and that the scenario has.

    page       the outcome as text and JSON
    tune       the whole procedure: search, confirm, prune, perturb
    search     single settings, then Optuna
    trials     cached runs of settings
    perturb    slightly different networks
    space      the available settings
    wifi       settings of Wi-Fi interfaces
    wired      settings of wired interfaces, and of TCP
    shaper     a shaper before an access line
    parts      a setting with its choices, and its place in the scenario
    objective  the objective: latency, goodput, or both
"""
