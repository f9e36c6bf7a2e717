"""A capture with radiotap headers.

capture  stations, rates, retries, airtime, load
frames   pcap and pcapng, radiotap, the header of 802.11
"""
