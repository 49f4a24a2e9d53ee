"""Runs CPython's own tests of hashlib and hmac with the constructors of hashlane in the place of the standard ones.

The tests come with Python, or with Debian's package libpython3-testsuite. Prints the excluded tests with their reasons.
"""

import hashlib
import hmac
import sys
import unittest

import hashlane
from test import test_hashlib, test_hmac

NAMES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b"]

# Parts of names of tests, and the reason why they do not run.
EXCLUDED = {
    "sha3": "SHA-3 is not offered",
    "shake": "SHAKE is not offered",
    "blake2s": "BLAKE2s is not offered",
    "blocksize_name_blake2": "BLAKE2s is not offered",
    "no_unicode_blake2": "BLAKE2s is not offered",
    "test_blake2b": "reads constants of a class, which a function has not",
    "vectors_test": "downloads its vectors",
    "algorithms_guaranteed": "is about the names of the standard module",
    "algorithms_available": "is about the names of the standard module",
    "get_builtin_constructor": "is about a function of the standard module",
    "get_fips_mode": "is about OpenSSL",
    "disallow_instantiation": "is about classes of the standard module",
    "readonly_types": "is about classes of the standard module",
    "KDFTests": "key derivation is not offered",
    "test_normalized_name": "is about names of OpenSSL",
    "CompareDigestTestCase": "is about functions of the standard module",
    "internal_types": "is about a class of OpenSSL",
    "realcopy_hmac": "is about a class of OpenSSL",
    "with_sha256_module": "is about a module of CPython",
    "legacy_block_size_warnings": "passes a function that returns no hash",
    "huge": "needs 4 GiB and more",
    "uintmax": "needs 4 GiB and more",
}


def patch() -> None:
    """Puts the constructors of hashlane in the place of the standard ones."""
    standard_new = hashlib.new

    def new(name: object, *args: object, **kwargs: object) -> object:
        if isinstance(name, str) and name.lower() in NAMES:
            return hashlane.new(name, *args, **kwargs)  # type: ignore[arg-type]
        return standard_new(name, *args, **kwargs)  # type: ignore[arg-type]

    for module in (hashlib, test_hashlib.hashlib):
        module.new = new
        for name in NAMES:
            setattr(module, name, getattr(hashlane, name))
    # Without OpenSSL, hmac uses the constructors of hashlib.
    hmac._hashopenssl = None
    test_hmac.c_hmac_new = test_hmac._hashopenssl = None

    start = test_hashlib.HashLibTestCase.__init__

    def with_ours(self: unittest.TestCase, *args: object, **kwargs: object) -> None:
        start(self, *args, **kwargs)
        self.constructors_to_test = {
            name: {
                getattr(hashlane, name),
                lambda *args, name=name, **kwargs: hashlane.new(name, *args, **kwargs),
            }
            for name in NAMES
        }

    test_hashlib.HashLibTestCase.__init__ = with_ours


def reason_of(test: unittest.TestCase) -> str | None:
    """Returns the reason why a test is excluded."""
    return next((reason for part, reason in EXCLUDED.items() if part in test.id()), None)


def tests_of(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    """Returns the tests of a suite and of the suites in it."""
    tests = []
    for test in suite:
        tests += tests_of(test) if isinstance(test, unittest.TestSuite) else [test]
    return tests


def main() -> int:
    """Runs the tests, and returns the exit status."""
    patch()
    loader = unittest.TestLoader()
    tests = tests_of(loader.loadTestsFromModule(test_hashlib)) + tests_of(loader.loadTestsFromModule(test_hmac))
    for test in tests:
        if reason := reason_of(test):
            print(f"excluded: {test.id()}: {reason}")
    chosen = unittest.TestSuite(test for test in tests if reason_of(test) is None)
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(chosen)
    print(f"ran {result.testsRun - len(result.skipped)}, skipped {len(result.skipped)}")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
