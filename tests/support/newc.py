# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading an initramfs after the kernel's description of the format."""


def parse(data: bytes) -> dict[str, tuple[dict[str, int], bytes]]:
    """A newc reader after the kernel's description of the format."""
    names = ["ino", "mode", "uid", "gid", "nlink", "mtime", "filesize", "devmajor", "devminor"]
    names += ["rdevmajor", "rdevminor", "namesize", "check"]
    entries: dict[str, tuple[dict[str, int], bytes]] = {}
    at = 0
    while True:
        assert data[at : at + 6] == b"070701"
        fields = {
            name: int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i, name in enumerate(names)
        }
        start = at + 110
        name = data[start : start + fields["namesize"] - 1].decode()
        assert data[start + fields["namesize"] - 1] == 0
        body = (start + fields["namesize"] + 3) & ~3
        if name == "TRAILER!!!":
            assert not any(data[body:])
            return entries
        entries[name] = (fields, data[body : body + fields["filesize"]])
        at = (body + fields["filesize"] + 3) & ~3
