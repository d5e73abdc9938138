#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""trace.py FILE: checks a trace of "ddio trace", and prints a line for each reactor's part of each collective: node/reactor,
disk requests, read or write, bytes moved by the disks, job, messages.

What is checked: it is JSON, times never run backwards, slices of one thread do not overlap, requests that begin end, and
there are as many requests, bytes and messages as the collectives counted."""
import collections
import json
import sys


def fail(what):
    sys.exit(f"trace.py: {what}")


def well_formed(events):
    """What Perfetto's importer of this format asks of events, which leaves out, and counts as errors, those that are otherwise."""
    named = {(e["pid"], e.get("tid")) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    processes = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    for e in events:
        if e["ph"] not in set("MXbeniC"):
            fail(f"an unknown phase: {e}")
        if not isinstance(e["pid"], int) or not isinstance(e.get("tid", 0), int) or not e["name"]:
            fail(f"no process, thread or name: {e}")
        if e["ph"] == "M":
            continue
        if not isinstance(e["ts"], (int, float)) or e["ts"] < 0 or e["pid"] not in processes:
            fail(f"no time, or a process without a name: {e}")
        if e["ph"] == "X" and (e["dur"] < 0 or (e["pid"], e["tid"]) not in named):
            fail(f"no duration, or a thread without a name: {e}")
        if e["ph"] in "ben" and not (e["id"] and e["cat"]):
            fail(f"an asynchronous event that belongs nowhere: {e}")
        if e["ph"] == "i" and e.get("s", "t") not in ("g", "p", "t"):
            fail(f"an instant of no scope: {e}")
        if e["ph"] == "C" and not all(isinstance(v, (int, float)) for v in e["args"].values()):
            fail(f"a counter that counts nothing: {e}")


def main(path):
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    events = trace["traceEvents"]
    colls = trace["otherData"]["collectives"]
    if trace["otherData"]["lost"]:
        fail("events were lost")
    ended = [e for e in events if e["ph"] in "en" and e.get("cat", "").startswith("disk ")]
    begun = [e for e in events if e["ph"] == "b"]
    well_formed(events)
    open_ones = collections.Counter()
    last, until = 0.0, {}
    for e in events:
        if e["ph"] == "M":
            continue
        if e["ts"] < last:
            fail(f"time runs backwards at {e}")
        last = e["ts"]
        if e["ph"] == "X":
            thread = (e["pid"], e["tid"])
            if e["ts"] < until.get(thread, 0.0) - 0.001:
                fail(f"slices overlap at {e}")
            until[thread] = e["ts"] + e["dur"]
        elif e["ph"] in "be":
            key = (e["pid"], e["cat"], e["id"])
            open_ones[key] += 1 if e["ph"] == "b" else -1
            if open_ones[key] not in (0, 1):
                fail(f"a slot has two requests at {e}")
    if any(open_ones.values()):
        fail("a request does not end")
    if not begun and not ended:
        fail("no disk request")
    for what, is_there, counted in (
            ("disk requests", len(ended), sum(c["disk_requests"] for c in colls)),
            ("bytes", sum(e["args"]["len"] for e in ended), sum(c["disk_read"] + c["disk_written"] for c in colls)),
            ("messages", sum(e["ph"] == "i" for e in events), sum(c["messages"] for c in colls)),
            ("places of arms", sum(e["ph"] == "C" for e in events), len(ended))):
        if is_there != counted:
            fail(f"{is_there} {what} in the trace, {counted} were counted")
    for c in colls:
        if not c["over"] or c["status"]:
            fail(f"a collective that is not over: {c}")
        print(f"{c['node']}/{c['reactor']}", c["disk_requests"], "write" if c["writes"] else "read",
              c["disk_read"] + c["disk_written"], c["job"] or "-", c["messages"])


main(sys.argv[1])
