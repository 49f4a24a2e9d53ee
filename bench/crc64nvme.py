"""Print the CRC-64/NVME of a file as S3 does, by awscrt, and the seconds that this took.

    python3 bench/crc64nvme.py FILE

The seconds are wall time and CPU time, without the start of Python. `sum.py` runs it.
"""

import base64
import mmap
import sys
import time
from pathlib import Path

from awscrt.checksums import crc64nvme

begin, cpu_begin = time.perf_counter(), time.process_time()
with (
    Path(sys.argv[1]).open("rb") as file,
    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
):
    checksum = crc64nvme(content).to_bytes(8, "big")
seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu_begin
print(base64.b64encode(checksum).decode(), f"{seconds:.6f} {cpu_seconds:.6f}")
