#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What may stand at the door of "ddiod --metrics": scrape.py CASE PORT [...].  Exits with 0 if all went as it should.

parse FILE|-          Prometheus' text format, by prometheus_client's parser; prints "N families, N samples"
known FILE METRIC...  each of the metrics is a family of FILE (for rules and dashboards)
text PORT             prints what is told
get PORT PATH         prints the status line
panels PORT FILE      a dashboard of Grafana is whole, and Prometheus at the port can compute each of its expressions
crowd PORT N          N connections that say nothing; then somebody asks, and gets an answer
slow PORT             a request byte by byte is ended; meanwhile others get answers
stopped PORT          64 clients that do not read; then somebody asks, and gets an answer
long PORT             a request without an end is refused, one that was cut off harms nobody
"""
import json
import re
import socket
import sys
import time
import urllib.parse
import urllib.request


def connect(port):
    return socket.create_connection(("127.0.0.1", int(port)), timeout=20)


def get(port, path="/metrics", method="GET"):
    with connect(port) as s:
        s.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return b"".join(iter(lambda: s.recv(65536), b"")).decode()


def answered(port):
    said = get(port)
    return said.startswith("HTTP/1.1 200 OK\r\n") and "ddio_job_mismatches_told" in said.splitlines()[-1]


def parse(name):
    from prometheus_client.parser import text_string_to_metric_families
    with (sys.stdin if name == "-" else open(name)) as f:
        families = list(text_string_to_metric_families(f.read()))
    print(len(families), "families,", sum(len(x.samples) for x in families), "samples")
    # Words of OpenMetrics, at which node_exporter drops a whole file.
    return len(families) > 30 and not [x for x in families if x.type not in ("gauge", "counter")]


def known(name, *files):
    with open(name) as f:
        have = set(re.findall(r"^(ddio_\w+)[{ ]", f.read(), re.M))
    asked = set()
    for file in files:
        with open(file) as f:
            asked |= set(re.findall(r"\bddio_[a-z_]+", f.read()))
    print(*sorted(asked - have))
    return bool(asked) and asked <= have


def computed(port, expr):
    """What Grafana puts in the place of variables is put there; the answer may be empty, but no error."""
    for name, value in {"__rate_interval": "1m", "__interval": "1m", "__range": "1h"}.items():
        expr = expr.replace("$" + name, value)
    expr = re.sub(r"\$\{?\w+\}?", ".+", expr)
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expr})
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return json.load(answer)["status"] == "success"
    except OSError as e:
        print(f"{expr}: {e}")
        return False


# Names of units as Grafana has them, as far as they are used.
UNITS = ("short", "bytes", "Bps", "reqps", "percentunit")


def whole(board):
    """What Grafana's import wants, and what would not be seen: panels one upon the other, variables that nobody defines."""
    panels = board["panels"]
    cells = [(x, y) for g in (p["gridPos"] for p in panels)
             for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])]
    defined = {v["name"] for v in board["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(panels))) - {"__rate_interval", "__interval", "__range"}
    checks = {
        "title, uid, version of the schema": board["title"] and board["uid"] and board["schemaVersion"] >= 30,
        "what the schema demands": {"annotations", "templating", "time"} <= board.keys(),
        "units": all(p["fieldConfig"]["defaults"]["unit"] in UNITS for p in panels),
        # Grafana asks no more often than Prometheus, whose default is a minute: a rate over less than two samples is none.
        "times of rates": all(
            r in ("$__rate_interval", "5m", "10m") for p in panels for t in p["targets"] for r in re.findall(r"\[([^\]]+)\]", t["expr"])),
        "numbers of panels": len({p["id"] for p in panels}) == len(panels),
        "places of panels": len(set(cells)) == len(cells) and all(0 <= x < 24 for x, _ in cells),
        "titles and kinds": all(p["title"] and p["type"] in ("stat", "timeseries") for p in panels),
        "sources of data": all(p["datasource"] == {"type": "prometheus", "uid": "${datasource}"} for p in panels),
        "names of queries": all(len({t["refId"] for t in p["targets"]}) == len(p["targets"]) > 0 for p in panels),
        f"variables: {used - defined}": used <= defined,
    }
    for what in (w for w, ok in checks.items() if not ok):
        print(f"dashboard: {what}")
    return all(checks.values())


def panels(port, file):
    with open(file) as f:
        board = json.load(f)
    exprs = [t["expr"] for p in board["panels"] for t in p["targets"]]
    print(len(exprs), "expressions")
    return whole(board) and len(exprs) > 10 and all([computed(port, e) for e in exprs])


def crowd(port, n):
    held = [connect(port) for _ in range(int(n))]
    return answered(port) and bool(held)


def slow(port):
    with connect(port) as s:
        ended = others = 0
        for c in "GET /metrics HTTP/1.1\r\n" + "x: y\r\n" * 20:
            try:
                s.sendall(c.encode())
            except OSError:
                ended = 1
                break
            others += answered(port)
            time.sleep(0.2)
        return ended and others > 3


def stopped(port):
    held = []
    for _ in range(64):
        s = connect(port)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        s.sendall(b"GET /metrics HTTP/1.1\r\n\r\n" * 3)
        held.append(s)
    return answered(port) and bool(held)


def long(port):
    with connect(port) as s:
        try:
            s.sendall(b"GET /metrics HTTP/1.1\r\n" + b"x: " + b"y" * 100000)
            said = s.recv(100)
        except ConnectionError:
            said = b"431"
    with connect(port) as s:
        s.sendall(b"GET /met")
    with connect(port) as s:
        s.sendall(bytes(range(256)) + b"\r\n\r\n")
    return b"431" in said and answered(port)


def status_line(port, path):
    method, _, path = path.rpartition(" ")
    print(get(port, path, method or "GET").split("\r\n")[0])
    return True


def text(port):
    print(get(port).split("\r\n\r\n", 1)[1], end="")
    return True


CASES = {"text": text, "parse": parse, "known": known, "panels": panels, "get": status_line, "crowd": crowd, "slow": slow, "stopped": stopped, "long": long}
sys.exit(0 if CASES[sys.argv[1]](*sys.argv[2:]) else 1)
