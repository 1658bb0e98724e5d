"""Parts of `bench/switch.py`."""
