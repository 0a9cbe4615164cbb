"""The wheel holds programs of this platform, and nothing that belongs to one Python: py3-none-PLATFORM."""
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class Platform(Distribution):
    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(distclass=Platform, cmdclass={"bdist_wheel": PlatformWheel})
