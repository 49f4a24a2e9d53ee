"""Read a file as hashlane does, without hashing it; print the seconds as JSON.

Usage: read_mapped.py FILE

The program maps the file window by window, each at the address of the previous one, and populates
each window with one call. Then memcmp of the C library compares the window with itself, which loads
every byte into the CPU and writes nothing. The seconds exclude the start of Python.
"""

import ctypes
import json
import mmap
import os
import resource
import sys
import time

WINDOW_BYTES = 4 << 20
# Not in the standard library: see mmap(2) and madvise(2).
MAP_FIXED = 0x10
MADV_POPULATE_READ = 22
MAP_FAILED = ctypes.c_void_p(-1).value

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
LIBC.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
LIBC.memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def read(name: str) -> dict:
    """Read the file, and return what `main` prints."""
    used_before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    with open(name, "rb", buffering=0) as file:  # noqa: PTH123 (pathlib takes long to import)
        size = os.fstat(file.fileno()).st_size
        room = _map(None, WINDOW_BYTES, mmap.PROT_READ, mmap.MAP_ANONYMOUS, -1, 0)
        for start in range(0, size, WINDOW_BYTES):
            count = min(WINDOW_BYTES, size - start)
            _map(room, count, mmap.PROT_READ, MAP_FIXED, file.fileno(), start)
            # Kernels before Linux 5.14 do not support this advice, and load pages on access.
            LIBC.madvise(room, count, MADV_POPULATE_READ)
            if LIBC.memcmp(room, room, count) != 0:
                raise RuntimeError("the file changed meanwhile")
    wall, used = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    return {
        "bytes": size,
        "wall": wall,
        "user": used.ru_utime - used_before.ru_utime,
        "system": used.ru_stime - used_before.ru_stime,
    }


def _map(address: int | None, count: int, access: int, flags: int, file: int, start: int) -> int:
    found = LIBC.mmap(address, count, access, mmap.MAP_PRIVATE | flags, file, start)
    if found == MAP_FAILED:
        raise OSError(ctypes.get_errno(), "cannot map")
    return found


def main(arguments: list[str]) -> int:
    """Run the command line, and return the exit status."""
    try:
        (name,) = arguments
        result = read(name)
    except (OSError, RuntimeError, ValueError) as error:
        print(f"read_mapped: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
