"""Robustness of verdicts: claims that can hardly fail, and claims that depend on a calibrated number.

Nothing here changes a verdict.

    counts              counts of verdicts
    non_discriminating  claims that can hardly fail
    calibration         claims that depend on a calibration
"""
