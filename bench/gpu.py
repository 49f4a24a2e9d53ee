#!/usr/bin/env python3
"""Counts the instructions per candidate of the kernel for GPUs, without a GPU.

    python3 bench/gpu.py --packages FOLDER

The statements of the kernel (`cargo run --package hashlane-gpu --example kernel`) are copied into
a frame of CUDA C, because NVIDIA publishes its compiler for CUDA on PyPI, and none for SPIR-V. The
compiler of a driver for Vulkan may decide otherwise. FOLDER has the packages:

    pip install --target FOLDER nvidia-cuda-nvrtc-cu12 nvidia-cuda-nvdisasm
"""

import argparse
import collections
import ctypes
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Instructions of the pipe for integers and logic, which starts 64 per cycle and multiprocessor on
# sm_80 to sm_90. IMAD has another pipe: the compiler uses it for some moves and additions.
ALU = {
    *("LOP3", "SHF", "PRMT", "IADD", "IADD3", "VIADD", "LEA"),
    *("ISETP", "PLOP3", "SEL", "IMNMX", "VIMNMX", "MOV"),
}

# Counted by hand from FIPS 180-4. One instruction is a rotation, ch, maj, or an exclusive or of
# three words.
MINIMUM = 2437

ARCHITECTURES = ("sm_80", "sm_89", "sm_90", "sm_120")

FRAME = """
typedef unsigned int u32;
struct Params { u32 stride, message_bits, n_steps, greatest_tail, steps[32]; };
struct Query { u32 words[12], low, first, len, unused; };
extern "C" __global__ void search(
        const __grid_constant__ Params params, const u32* __restrict__ columns,
        const Query* __restrict__ queries, u32* found_n, u32* found_words, u32 room) {
    const u32 number = blockIdx.x, bits = params.message_bits, lane = threadIdx.x;
    const u32 low = queries[number].low, end = queries[number].first + queries[number].len;
$QUERY
#pragma unroll 1
    for (u32 i = queries[number].first + lane; i < end; i += 64u) {
$MESSAGE
        const u32 tail = $CHECKSUM - (low + columns[i]);
        if (tail <= params.greatest_tail) {
            u32 rest = tail;
#pragma unroll 1
            for (u32 n = 0; n < params.n_steps; n++) rest = min(rest, rest - params.steps[n]);
            if (rest == 0u) {
                const u32 n = atomicAdd(found_n, 1u);
                if (3u * n + 2u < room) {
                    found_words[3u * n] = number;
                    found_words[3u * n + 1u] = i;
                    found_words[3u * n + 2u] = tail;
                }
            }
        }
    }
}
"""

INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]+\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)(.*)")


def cuda(wgsl):
    """Returns the kernel in CUDA C."""
    before, after = wgsl.split("    for (var i =", 1)
    blocks = []
    for part in (before, after):
        statements = re.findall(r"^ *let (v\d+ = .*;)$", part, re.MULTILINE)
        blocks.append("\n".join(f"    const u32 {statement}" for statement in statements))
    source = FRAME.replace("$QUERY", blocks[0]).replace("$MESSAGE", blocks[1])
    return source.replace("$CHECKSUM", re.search(r"let tail = (v\d+) ", after)[1])


def compiled(source, architecture, packages):
    """Returns the machine code, disassembled."""
    library = ctypes.CDLL(str(next(packages.rglob("libnvrtc.so.*"))))
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"search", 0, None, None)
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture={architecture}".encode())
    status = library.nvrtcCompileProgram(program, 1, options)
    size = ctypes.c_size_t()
    if status:
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        sys.exit(f"bench/gpu.py: {architecture}: {log.value.decode()}")
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, code)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code.raw)
        file.flush()
        command = [next(packages.rglob("nvdisasm")), "-c", file.name]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def loop(listing):
    """Returns the names of the instructions in the loop over the messages.

    The loop ends in the longest backward branch. The part that only matches reach is left out.
    """
    labels, names, branches = {}, [], []
    for line in listing.splitlines():
        if label := re.match(r"(\.L_x_\d+):", line):
            labels[label[1]] = len(names)
        if found := INSTRUCTION.match(line):
            if target := re.search(r"`\((\.L_x_\d+)\)", found[2]):
                branches.append((len(names), target[1]))
            names.append(found[1])
    known = [(at, labels[target]) for at, target in branches if target in labels]
    end, start = max(known, key=lambda branch: branch[0] - branch[1])
    forward = ((at, to) for at, to in known if start < at < to <= end)
    skip, resume = next(forward, (end, end + 1))
    return names[start : skip + 1] + names[resume : end + 1]


def main():
    """Prints a table with a row for each architecture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, required=True, help="folder of the packages")
    parser.add_argument("--kernel", type=Path, help="kernel in WGSL [default: of the example]")
    arguments = parser.parse_args()
    if arguments.kernel:
        wgsl = arguments.kernel.read_text()
    else:
        command = ["cargo", "run", "--quiet", "--package", "hashlane-gpu", "--example", "kernel"]
        run = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
        wgsl = run.stdout
    source = cuda(wgsl)
    print("| architecture | all | ALU | IMAD | all / minimum | ALU / minimum |")
    print("|---|---|---|---|---|---|")
    for architecture in ARCHITECTURES:
        names = loop(compiled(source, architecture, arguments.packages))
        families = collections.Counter(name.split(".")[0] for name in names)
        alu = sum(n for name, n in families.items() if name in ALU)
        ratios = f"{len(names) / MINIMUM:.3f} | {alu / MINIMUM:.3f}"
        print(f"| {architecture} | {len(names)} | {alu} | {families['IMAD']} | {ratios} |")


if __name__ == "__main__":
    main()
