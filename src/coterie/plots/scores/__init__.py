"""Pictures of how good predictions are: curves, calibration, residuals, estimates of the error, leaderboards."""
