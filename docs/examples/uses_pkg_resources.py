"""A program that still asks pkg_resources, which setuptools no longer brings along.

    bisector run --pin setuptools=80.9.0..82.0.1 --smoke docs/examples/uses_pkg_resources.py

It must not be called pkg_resources.py: a script's own directory comes first where Python looks for modules.
"""

import pkg_resources

print("setuptools", pkg_resources.get_distribution("setuptools").version)
