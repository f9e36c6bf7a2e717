"""Why packets are late, in words: where their time went, what keeps them there, and what would change it.

What is said comes from packets that were followed (`[record] sojourn`); what would change it was run before.

    answers   questions that people ask, each answered by runs
    tune      which settings are best, searched
    page      the page of text
    advice    the part of the page about changes that were run
    tried     changes, run with the same seeds
    moved     effects of a change on each flow, and the verdict
    mine      hosts that the user controls
    changes   what might be changed, by finding
    findings  the causes of late packets, the largest first
    air       who has the air for how little, and what hidden stations cost
    shaping   cake before an access line: what is there, and the keys for another rate
    access    lines to the Internet, their shapers, and what is on which side
    quality   what an application makes of a path (QoO)
    losses    packets that an application never gets
    outages   outages of links and of Wi-Fi paths
"""
