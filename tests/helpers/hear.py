#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Listens on the loopback interface of this network namespace, as whoever is on the path could.

hear.py MARKER COMMAND...: prints how many bytes the command and its peers sent, how often the marker was among them, and how
many packets were missed; exits as the command did.
"""
import select
import socket
import struct
import subprocess
import sys

ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_STATISTICS = 6
SO_RCVBUFFORCE = 33


def main():
    marker = sys.argv[1].encode()
    ear = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    ear.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
    ear.bind(("lo", 0))
    ear.setblocking(False)
    command = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
    heard = marks = 0
    ended = False
    while True:
        ready, _, _ = select.select([ear], [], [], 0.2)
        if ready:
            packet = ear.recv(1 << 17)
            heard += len(packet)
            marks += packet.count(marker)
        elif ended:
            break
        else:
            ended = command.poll() is not None
    missed = struct.unpack("II", ear.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
    print(heard, marks, missed)
    return command.returncode


sys.exit(main())
