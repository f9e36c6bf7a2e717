"""Results of tests that are repeated: Flent's and crusader's.

crusader_flows     the flows of a crusader result's test
flent              a Flent file
crusader           a crusader result
crusader_encoding  how that is packed: snappy, MessagePack
"""
