"""Settings of all tests."""

from hypothesis import settings

# A busy machine is slow, which is no failure.
settings.register_profile("hashlane", deadline=None)
settings.load_profile("hashlane")
