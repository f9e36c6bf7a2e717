"""Results of load tests, to be repeated as the scenario's load: Flent and crusader.

flent              a Flent file
crusader           a crusader result
crusader_flows     the flows of a crusader test
crusader_encoding  snappy and MessagePack
"""
