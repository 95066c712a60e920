"""How good the predictions are: scores, curves, thresholds and their costs, calibration."""
