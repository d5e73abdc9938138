#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs the test modules named on the command line and prints a line for each case, then the counts."""

import importlib
import sys
import unittest


class Lines(unittest.TextTestResult):
    def addSuccess(self, test):
        print("ok:", test.shortDescription() or test.id(), flush=True)

    def _failed(self, test, err):
        print("FAILED:", test.shortDescription() or test.id(), flush=True)
        print(self._exc_info_to_string(err, test), flush=True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, err)


def main():
    suite = unittest.TestSuite()
    for name in sys.argv[1:]:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name)))
    result = Lines(unittest.runner._WritelnDecorator(sys.stderr), True, 0)
    suite.run(result)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0


sys.exit(main())
