"""Results of tests that are repeated: Flent's and crusader's.

repeat    the flows of a crusader result's test
flent     a Flent file
crusader  a crusader result
packed    how that is packed: snappy, MessagePack
"""
