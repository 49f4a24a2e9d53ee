"""Run a command and print, as JSON, the bytes of its peak resident set.

Usage: python3 -I -S peak_memory.py PROGRAM [ARGUMENT]...

Linux carries the peak of a process over fork and exec into the child, so a child never shows less
than its parent. This script therefore imports almost nothing.
"""

import os
import sys


def main() -> int:
    """Run the command, and exit with its exit status."""
    child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
    _, status, usage = os.wait4(child, 0)
    print(f'{{"peak_resident_bytes": {usage.ru_maxrss * 1024}}}')
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
