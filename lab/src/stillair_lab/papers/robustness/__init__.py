"""Robustness of verdicts: claims that can hardly fail, and claims that depend on a calibrated number.

No verdict of the rule is changed here.

    counts              what verdicts come to
    non_discriminating  claims that can hardly fail
    calibration         claims that depend on a calibration
"""
