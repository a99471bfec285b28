"""Rules on how names are looked up: nsswitch.conf."""
