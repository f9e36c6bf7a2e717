"""What is wrong with a network, and what would be better: all that is said has been run.

explain  `stillair explain`: why packets are late
tune     `stillair tune`: which settings are best
faq      `stillair faq`: questions that people ask, answered by runs
"""
