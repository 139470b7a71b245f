# SPDX-License-Identifier: MIT
"""Runs the tests of this folder, from the package that is installed, and says
what became of them as TAP.

    tap.py [NAME]...    only the modules of these names, test_call
"""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = ("test_sizes", "test_package", "test_call", "test_libraries",
           "test_tune", "test_kernel_tuner", "test_results")


class Tap(unittest.TestResult):
    count = 0

    def _say(self, test, status="ok", note=""):
        self.count += 1
        print("%s %d - %s%s" % (status, self.count,
                                test.shortDescription() or test.id(), note))
        sys.stdout.flush()

    def addSuccess(self, test):
        super().addSuccess(test)
        self._say(test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._say(test, note=" # SKIP " + reason)

    def _bad(self, test, error):
        for line in self._exc_info_to_string(error, test).splitlines():
            print("# " + line)
        self._say(test, "not ok")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._bad(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._bad(test, error)


def main():
    suite = unittest.TestSuite()
    for name in sys.argv[1:] or MODULES:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromName(name))
    result = Tap()
    suite.run(result)
    print("1..%d" % result.count)


sys.path.insert(0, HERE)
main()
