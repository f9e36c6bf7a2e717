"""Saturated set-ups of ns-3's own examples, run in ns-3 and in Stillair.

report     the table and the file for programs
programs   runs of either program
scenario   a case as a scenario of Stillair
cases      ns-3's examples: settings, and the range that ns-3's own test accepts
theory     what the standard's durations and Bianchi's model give
standard   rates, durations and lengths by the standard
"""
