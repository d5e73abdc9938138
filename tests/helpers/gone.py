#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""gone.py DIR SEED: a program on a mount, below whose name server the file system of the records goes away.

Reads words from its input and answers each with a line: "work" appends to a file and renames another, and syncs one or
the other, or both, or none; "down PATH" shuts down the file system at PATH, as if its disk were gone; "check" syncs both
again and says "kept", "told" if a sync failed, or "LOST" and what: something that a sync said is durable is not there.
"""
import fcntl
import os
import random
import struct
import sys

SHUTDOWN, NO_FLUSH = 0x8004587D, 2


def synced(fd):
    try:
        os.fsync(fd)
        return True
    except OSError:
        return False


class Round:
    """A file of one block that grows to two, and one that gets another name."""

    def __init__(self, where, number, rnd):
        self.where, self.number, self.rnd = where, number, rnd
        self.file = os.open(self.path("a"), os.O_RDWR | os.O_CREAT)
        os.write(self.file, b"A" * 4096)
        with open(self.path("old"), "w", encoding="ascii"):
            pass
        self.dir = os.open(where, os.O_RDONLY)
        self.size = self.renamed = False
        assert synced(self.file) and synced(self.dir)

    def path(self, name):
        return os.path.join(self.where, f"{name}{self.number}")

    def work(self):
        os.write(self.file, b"B" * 4096)
        os.rename(self.path("old"), self.path("new"))
        if self.rnd.random() < 0.3:
            self.size = synced(self.file)
        if self.rnd.random() < 0.3:
            self.renamed = synced(self.dir)

    def check(self):
        told = [synced(self.file), synced(self.dir)]
        there = os.stat(self.path("a")).st_size == 8192
        new = os.path.exists(self.path("new"))
        os.close(self.file)
        os.close(self.dir)
        if (told[0] or self.size) and not there:
            return "LOST an append"
        if (told[1] or self.renamed) and not new:
            return "LOST a rename"
        if not new and not os.path.exists(self.path("old")):
            return "LOST a file"
        return "kept" if all(told) else "told"


def down(path):
    fd = os.open(path, os.O_RDONLY)
    fcntl.ioctl(fd, SHUTDOWN, struct.pack("<I", NO_FLUSH))
    os.close(fd)


def main():
    rnd, number, now = random.Random(int(sys.argv[2])), 0, None
    for line in sys.stdin:
        word = line.split()
        answer = "done"
        if word[0] == "work":
            number += 1
            now = Round(sys.argv[1], number, rnd)
            now.work()
        elif word[0] == "down":
            down(word[1])
        else:
            answer = now.check()
        print(answer, flush=True)


main()
