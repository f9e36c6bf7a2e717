"""`tc` commands read: the tree of disciplines that they make, and their options.

A scenario of ours is made of it.

    tree             which disciplines stand at which device
    options          as `tc` names them and as a scenario does
    units            numbers as `tc` takes them
    scenario_values  numbers as a scenario writes them
"""
