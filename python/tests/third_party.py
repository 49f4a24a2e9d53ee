"""Runs the tests of a package, for which `import hashlib` is `import hashlane as hashlib`.

python third_party.py PACKAGE [ARGUMENTS OF PYTEST]
"""

import builtins
import sys

import hashlane
import pytest


def main() -> int:
    """Runs the tests, and returns the exit status."""
    package, standard_import, users = sys.argv[1], builtins.__import__, set()

    def import_(name: str, globals=None, *arguments, **options):  # noqa: A002 - the name of the standard function
        importer = (globals or {}).get("__name__", "")
        if name == "hashlib" and importer.partition(".")[0] == package:
            users.add(importer)
            return hashlane
        return standard_import(name, globals, *arguments, **options)

    builtins.__import__ = import_
    status = int(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[2:]]))
    print(f"hashlane in the place of hashlib in {len(users)} modules: {', '.join(sorted(users))}")
    return status


if __name__ == "__main__":
    sys.exit(main())
