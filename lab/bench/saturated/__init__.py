"""Saturated set-ups of ns-3's own examples, run in ns-3 and in Stillair.

report     the tables and the JSON file
programs   runs of either program
scenario   a case as a Stillair scenario
cases      ns-3's examples: settings, and the range that ns-3's own test accepts
theory     goodput from the standard's durations and Bianchi's model
standard   rates, durations and lengths from the standard
"""
