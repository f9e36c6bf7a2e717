"""Explains why packets are late: where they wait, for what cause, and which changes reduce the wait.

Causes come from the sojourn times of packets (`[record] sojourn`). Every suggested change has been run.

    faq         frequent questions, each answered by runs
    tune        search for the best settings
    page        the text page
    advice      the part of the page about changes
    evaluation  changes, run with the same seeds
    effects     effects of a change on each flow, and the verdict
    user_hosts  hosts that the user controls
    changes     candidate changes for each cause
    findings    the causes of late packets, the largest first
    air         airtime of slow stations, and the cost of hidden stations
    access      access lines, their shapers, and the nodes on each side
    quality     Quality of Outcome (QoO) of a path for an application
    losses      packets that an application never gets
    outages     outages of links and of Wi-Fi paths
"""
