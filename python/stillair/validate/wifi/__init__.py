"""`stillair validate wifi`: the model held against the real mac80211 over a simulated radio."""
