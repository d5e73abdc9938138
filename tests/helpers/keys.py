#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""keys.py [--rows N] [--cols N] [--resize ROWSxCOLS] q|SIGINT COMMAND...: runs COMMAND on a terminal of its own, waits until it
shows something (and again, after the terminal has got another size), presses q or interrupts it, and says how it ended,
whether the terminal is as it was, and what did not fit on it."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 60 * int(os.environ.get("DDIO_PATIENCE", "1"))


def next_screen(master, child, text=b""):
    """What comes until a screen ends, or the child, or PATIENCE seconds; and what comes after it."""
    until = time.monotonic() + PATIENCE
    while b"\x1b[J" not in text and time.monotonic() < until:
        if select.select([master], [], [], 0.2)[0]:
            text += os.read(master, 65536)
        elif child.poll() is not None:
            break
    return text.partition(b"\x1b[J")[::2]


def resize(slave, rows, cols):
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def too_much(text, rows, cols):
    """What a screen has beyond the terminal, as the terminal counts."""
    lines = re.sub(rb"\x1b\[[0-9]*[A-Z]", b"", text).decode().replace("\r", "").split("\n")
    longest = max(len(line) for line in lines)
    return (f", {len(lines) - 1} lines" if len(lines) > rows else "") + (f", {longest} columns" if longest > cols else "")


def main(args):
    opts = {"--rows": "24", "--cols": "80", "--resize": ""}
    while args[0] in opts:
        opts[args[0]], args = args[1], args[2:]
    rows, cols = int(opts["--rows"]), int(opts["--cols"])
    key, command = args[0], args[1:]
    master, slave = pty.openpty()
    resize(slave, rows, cols)
    before = termios.tcgetattr(slave)
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    text, rest = next_screen(master, child)
    much = too_much(text, rows, cols)
    if opts["--resize"]:
        rows, cols = map(int, opts["--resize"].split("x"))
        resize(slave, rows, cols)
        # One may be under way.
        for _ in range(2):
            text, rest = next_screen(master, child, rest)
        much += too_much(text, rows, cols)
    if key == "SIGINT":
        child.send_signal(signal.SIGINT)
    else:
        os.write(master, key.encode())
    try:
        status = child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        print("it does not end")
        return 1
    end = f"exit {status}" if status >= 0 else f"signal {-status}"
    same = "as before" if termios.tcgetattr(slave) == before else "changed"
    print(f"{end}, terminal {same}{much}")
    return 0


sys.exit(main(sys.argv[1:]))
