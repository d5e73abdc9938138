#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""keys.py [--rows N] q|SIGINT COMMAND...: runs COMMAND on a terminal of its own, waits until it shows something, presses q or
interrupts it, and says how it ended and whether the terminal is as it was."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 60 * int(os.environ.get("DDIO_PATIENCE", "1"))


def first_screen(master, child):
    """What comes until the first screen ends, or the child, or PATIENCE seconds."""
    text = b""
    until = time.monotonic() + PATIENCE
    while b"\x1b[J" not in text and time.monotonic() < until:
        if select.select([master], [], [], 0.2)[0]:
            text += os.read(master, 65536)
        elif child.poll() is not None:
            break
    return text


def main(args):
    rows = 24
    if args[0] == "--rows":
        rows, args = int(args[1]), args[2:]
    key, command = args[0], args[1:]
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    before = termios.tcgetattr(slave)
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    text = first_screen(master, child)
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
    lines = text.split(b"\x1b[J")[0].count(b"\n")
    same = "as before" if termios.tcgetattr(slave) == before else "changed"
    print(f"{end}, terminal {same}" + (f", {lines} lines" if lines >= rows else ""))
    return 0


sys.exit(main(sys.argv[1:]))
