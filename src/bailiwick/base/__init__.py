"""What everything stands on: errors, settings, clock, logs. Imports nothing of ours."""
