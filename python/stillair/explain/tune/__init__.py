"""Which settings of a network are best: searched, confirmed over seeds, and each change taken away again.

Only what a person can set is changed, and only where the scenario has it.

    page       what came of it, as text and as JSON
    tune       the whole of it: search, confirm, take away, perturb
    search     settings tried one by one, then by Optuna
    trials     runs of settings, each made once and kept
    perturb    the same network a little different
    space      the settings that there are to choose from
    wifi       those of Wi-Fi interfaces
    wired      those of wired interfaces, and of TCP
    shaper     a shaper before an access line
    parts      a setting with its choices, and where it stands in the scenario
    objective  what is good: latency, goodput, or both
"""
