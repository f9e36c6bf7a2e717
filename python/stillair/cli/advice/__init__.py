"""Diagnosis and tuning. Every suggested change has been simulated.

explain  `stillair explain`: why packets are late
tune     `stillair tune`: which settings are best
faq      `stillair faq`: frequent questions, answered by runs
"""
