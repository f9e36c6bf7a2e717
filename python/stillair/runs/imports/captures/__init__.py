"""A capture with radiotap headers.

capture   stations, rates, retries, airtime, load
frames    frames with their 802.11 header
radiotap  radiotap headers
packets   packets of pcap and pcapng files
"""
