"""Parses `tc` commands: the tree of disciplines that they set up, and their options.

Scenarios are generated from it.

    tree             disciplines of each device
    options          option names of `tc` and of scenarios
    units            numbers in `tc` syntax
    scenario_values  numbers in scenario syntax
"""
