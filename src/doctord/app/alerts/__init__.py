"""Alerts: what somebody is told of, when it begins and when it is over."""
