# SPDX-License-Identifier: GPL-2.0-only
"""The package's structures and functions are those of the headers."""

import ctypes
import os
import re
import subprocess
import tempfile
import unittest

from ddio import _abi

TOP = os.path.join(os.path.dirname(__file__), "..", "..")


def program():
    lines = ["#include <ddio/ddio.h>", "#include <stdio.h>", "int main(void) {"]
    for s in _abi.STRUCTURES:
        lines.append(f'printf("{s.c_name} . %zu\\n", sizeof(struct {s.c_name}));')
        lines += [f'printf("{s.c_name} {f} %zu\\n", offsetof(struct {s.c_name}, {f}));' for f, _ in s._fields_]
    return "\n".join(lines + ["return 0; }"])


def of_compiler():
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/abi.c", "w") as f:
            f.write(program())
        subprocess.run(["cc", "-I", os.path.join(TOP, "include"), "-o", d + "/abi", d + "/abi.c"], check=True)
        return subprocess.run([d + "/abi"], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def of_package():
    for s in _abi.STRUCTURES:
        yield f"{s.c_name} . {ctypes.sizeof(s)}"
        for name, _ in s._fields_:
            yield f"{s.c_name} {name} {getattr(s, name).offset}"


def header(name):
    with open(os.path.join(TOP, "include", "ddio", name)) as f:
        return f.read()


class Abi(unittest.TestCase):
    def test_structures(self):
        """each structure has the compiler's size and offsets"""
        self.assertEqual(list(of_package()), of_compiler())

    def test_functions(self):
        """each function has as many arguments as the header says"""
        text = re.sub(r"/\*.*?\*/", "", header("ddio.h") + header("cluster.h") + header("query.h"), flags=re.S)
        for name, (_, arguments) in _abi.FUNCTIONS.items():
            found = re.search(rf"\b{name}\(((?:[^()]|\([^()]*\))*)\);", text)
            self.assertTrue(found, name)
            flat = re.sub(r"\([^()]*\)", "", found.group(1))
            n = 0 if flat.strip() == "void" else len(flat.split(","))
            self.assertEqual(n, len(arguments), name)

    def test_constants(self):
        """methods, flags, layouts and distributions have the header's values"""
        import ddio
        text = header("ddio.h") + header("dist.h")
        named = {f"DDIO_METHOD_{m.name.replace('TWO_PHASE', '2P')}": m for m in ddio.Method}
        named |= {f"DDIO_XFER_{f.name}": f for f in ddio.Flag if f}
        named |= {f"DDIO_{x.name}": x for x in ddio.Layout}
        named |= {f"DDIO_{d.name}": d.kind for d in (ddio.NONE, ddio.BLOCK, ddio.CYCLIC, ddio.ALL)}
        for name, value in named.items():
            found = re.search(rf"\b{name}(?: =)? (0x[0-9a-f]+|[0-9]+)", text)
            self.assertTrue(found, name)
            self.assertEqual(int(found.group(1), 0), int(value), name)
        self.assertIn(f"DDIO_QUERY_STEPS_MAX {_abi.QUERY_STEPS_MAX}u", header("query.h"))
        flags = set(re.findall(r"#define (DDIO_XFER_[A-Z_]+)", text))
        self.assertEqual(flags, {n for n in named if n.startswith("DDIO_XFER")})
