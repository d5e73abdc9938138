#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
peers_page.py TITLE NOTE DIR...: puts what runs of peers.sh have left in DIRs, of one number of ranks and one size, into
Documentation/mpi-speed.rst as one table, with a picture if
there are records of both sizes.  NOTE tells the rounds and the commit.  A section of that title is replaced, else
it becomes the last one.

	tests/perf/peers_page.py "16 ranks, 10 MB" "Five rounds, commit 0aff4fc6" build/peers.1 build/peers.2
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = os.path.join(HERE, "..", "..", "Documentation")


def merged(dirs):
    """Returns the measurements of all runs."""
    head, lines = None, []
    for name in dirs:
        with open(os.path.join(name, "peers.csv"), encoding="ascii") as csv:
            head, *rest = csv.read().splitlines()
            lines += rest
    if len({tuple(line.split(",")[:2]) for line in lines}) != 1:
        sys.exit("peers_page.py: the runs are not of one number of ranks and one size")
    return "\n".join([head] + lines) + "\n"


def table(dirs, where):
    """Returns the table's lines, and the file of the picture's data."""
    csv = os.path.join(where, "peers.csv")
    with open(csv, "w", encoding="ascii") as file:
        file.write(merged(dirs))
    text = subprocess.run(
        ["awk", "-v", "out=" + where, "-f", os.path.join(HERE, "peers.awk"), csv],
        check=True, capture_output=True, text=True).stdout
    lines = [line for line in text.splitlines()[1:] if line]
    data = [name for name in os.listdir(where) if re.fullmatch(r"peers-\d+-\d+\.dat", name)]
    return lines, os.path.join(where, data[0])


def draw(title, data):
    """Draws the picture, which has a half for each size of records.  Returns the lines that show it: none without both sizes."""
    with open(data, encoding="ascii") as file:
        if {line.split()[0] for line in file} - {"#"} != {"8", "8192"}:
            return []
    name = "mpi-" + "-".join(re.findall(r"\d+|[a-z]+", re.sub("ranks|mb", "", title.lower()))) + ".png"
    settings = f"data='{data}'; picture='{os.path.join(PAGES, name)}'; what='{title}: cold reads and writes'"
    subprocess.run(["gnuplot", "-e", settings, os.path.join(HERE, "peers.gnuplot")], check=True)
    return [".. image:: " + name, f"   :alt: {title}, cold reads and writes", ""]


def section(title, note, dirs):
    """Returns the section's text."""
    with tempfile.TemporaryDirectory() as where:
        lines, data = table(dirs, where)
        picture = draw(title, data)
    told = [line for line in lines if line.startswith("ddio to")]
    rows = [line for line in lines if not line.startswith("ddio to")]
    return "\n".join(
        [title, "=" * len(title), "", note + ".", ""] + picture + ["::", ""]
        + ["   " + line.rstrip() for line in rows] + [""] + ["   " + line for line in told]) + "\n"


def main():
    """Rewrites the page."""
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    title, note, *dirs = sys.argv[1:]
    page = os.path.join(PAGES, "mpi-speed.rst")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    new = section(title, note.rstrip("."), dirs)
    old = re.compile(rf"^{re.escape(title)}\n=+\n.*?(?=^[^\n]+\n====|\Z)", re.M | re.S)
    if old.search(text):
        text = old.sub(lambda _: new + "\n", text).rstrip("\n") + "\n"
    else:
        text = text.rstrip("\n") + "\n\n" + new
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
