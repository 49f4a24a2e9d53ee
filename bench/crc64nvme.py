"""Print the CRC-64/NVME of a file as S3 does, by awscrt, and the seconds that this took.

    python3 bench/crc64nvme.py FILE

The seconds are wall time without the start of Python. `sum.py` runs it.
"""

import base64
import mmap
import sys
import time
from pathlib import Path

from awscrt.checksums import crc64nvme

begin = time.perf_counter()
with (
    Path(sys.argv[1]).open("rb") as file,
    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
):
    checksum = crc64nvme(content).to_bytes(8, "big")
seconds = time.perf_counter() - begin
print(base64.b64encode(checksum).decode(), f"{seconds:.6f}")
