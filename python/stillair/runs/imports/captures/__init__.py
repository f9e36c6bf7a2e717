"""A capture with radiotap headers.

capture   stations, rates, retries, airtime, load
frames    frames with the header of 802.11
radiotap  what a radio tells of a frame
packets   packets of pcap and pcapng
"""
