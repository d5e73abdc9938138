#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a matrix column-cyclic from 16 processes, each every 16th column in one collective request, and plots it.

    matrix_columns.py NAME [PICTURE.png [PROCESSES]]

NAME is a file in NumPy's format in the cluster of $DDIO_CONF ("ddio import matrix.npy"); it is made if it does not exist.
"""

import io
import sys

import numpy as np

import ddio


def make(name, rows=320, cols=480):
    """Stores two waves that meet, as np.save() would."""
    y, x = np.mgrid[-1:1:rows * 1j, -1.5:1.5:cols * 1j]
    waves = np.sin(40 * np.hypot(x + 0.5, y)) + np.sin(40 * np.hypot(x - 0.5, y))
    out = io.BytesIO()
    np.save(out, waves)
    with ddio.connect() as session, session.open(name, "x") as f:
        f.pwrite(out.getvalue(), 0)


def read_columns(group, name):
    """Runs in each process: returns its columns and what the transfer did."""
    report = ddio.Report()
    with group.open(name) as f:
        array = f.npy((ddio.NONE, ddio.CYCLIC))
        return f.read(array, group=group, report=report), report


def assemble(shares):
    """Puts every process's columns where they belong."""
    whole = np.empty((shares[0].shape[0], sum(s.shape[1] for s in shares)))
    for rank, share in enumerate(shares):
        whole[:, rank::len(shares)] = share
    return whole


def plot(whole, shares, picture):
    """Draws the matrix, who holds its first columns, and what one process sees."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    fig, (top, owners, one) = plt.subplots(3, 1, figsize=(7, 8), height_ratios=(6, 0.4, 3), layout="constrained")
    top.imshow(whole, cmap="RdBu", aspect="auto")
    top.set_title(f"{whole.shape[0]} x {whole.shape[1]} doubles, read by {len(shares)} processes")
    owners.imshow(np.arange(4 * len(shares))[None, :] % len(shares), cmap="tab20", aspect="auto")
    owners.set_yticks([])
    owners.set_title("which process holds the first columns")
    one.imshow(shares[0], cmap="RdBu", aspect="auto")
    one.set_title("what process 0 holds: every column that is its own")
    fig.savefig(picture, dpi=110)


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    name, processes = sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 16
    try:
        make(name)
    except FileExistsError:
        pass
    answers = ddio.fork(processes, read_columns, name)
    shares = [share for share, _ in answers]
    whole = assemble(shares)
    if len(sys.argv) > 2:
        plot(whole, shares, sys.argv[2])
    r = answers[0][1]
    print(f"{whole.shape[0]} x {whole.shape[1]} doubles by {processes} processes: "
          f"{r.requests} requests to {r.iops} I/O processors, {r.disk_requests} disk requests")


main()
