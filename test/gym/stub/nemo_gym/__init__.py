"""A stand-in for nemo-gym: the server classes of 0.7.0 with nothing in them but what `ray_enabled` depends on."""
