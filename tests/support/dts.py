# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of what dtc prints when it decompiles a blob: nodes and properties, nothing more."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field

_PROPERTY = re.compile(r"([\w,.+?#-]+)(?: = (.*))?;")


@dataclass
class Node:
    """A node; property values are as dtc prints them, ``""`` for one without a value."""

    name: str
    properties: dict[str, str] = field(default_factory=dict)
    children: dict[str, Node] = field(default_factory=dict)

    def at(self, path: str) -> Node:
        """The node under this one at ``path`` (slashes between names)."""
        node = self
        for name in path.strip("/").split("/"):
            node = node.children[name]
        return node

    def cells(self, name: str) -> list[int]:
        """A property's cells."""
        return [int(cell, 0) for cell in self.properties[name].strip("<>").split()]

    def strings(self, name: str) -> list[str]:
        """A property's strings."""
        return self.properties[name].strip('"').split("\\0")

    @property
    def phandle(self) -> int:
        """What other nodes refer to this one by."""
        return self.cells("phandle")[0]


def decompile(blob: bytes) -> Node:
    """The root node of a device-tree blob, by way of dtc."""
    text = subprocess.run(
        ["dtc", "-I", "dtb", "-O", "dts", "-"], input=blob, capture_output=True, check=True
    ).stdout.decode()
    root = Node("")
    stack = [root]
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line == "/dts-v1/;" or line.startswith("/memreserve/"):
            continue
        if line.endswith("{"):
            node = Node(line.removesuffix("{").strip())
            stack[-1].children[node.name] = node
            stack.append(node)
        elif line == "};":
            stack.pop()
        else:
            property_line = _PROPERTY.fullmatch(line)
            assert property_line, f"not a property: {line}"
            value = (property_line[2] or "").replace('", "', "\\0")
            stack[-1].properties[property_line[1]] = value
    assert stack == [root], "unbalanced braces"
    return root.children["/"]
