#!/usr/bin/python3
"""What it costs that an array does not lie contiguously in its file: runs of the same reordering on a contiguous array
and on padded, cropped, flipped, column-major and byte-swapped ones, in turn, as ratios of their times for each byte of
the array.

  bench/layouts.py PROGRAM [DIRECTORY] [--bytes 4096] [--rounds 3] [--warm] [--only NAME]

PROGRAM is xorder, DIRECTORY where files of --bytes MiB go. Cold runs read from the disk, --warm ones from the page cache.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("directory", nargs="?", default=".")
parser.add_argument("--bytes", type=int, default=4096, help="MiB")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--warm", action="store_true")
parser.add_argument("--only", default="")
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
options = parser.parse_args()
random.seed(options.seed)

N = options.bytes << 20
SOURCE, TARGET = (os.path.join(options.directory, name) for name in ("layouts.raw", "layouts.out.raw"))

ROWS = 1 << ((N // 8).bit_length() - 1) // 2  # doubles: ROWS x COLUMNS
COLUMNS = N // 8 // ROWS
PITCH, LESS = 8 * COLUMNS, COLUMNS - 64
FRAMES, HEIGHT = 64, ROWS // 64
BITS = (ROWS * COLUMNS).bit_length() - 1


def shape(*extents):
    return ["--shape", ",".join(map(str, extents))]


def strides(*steps):
    return ["--strides", ",".join(map(str, steps)), "--ignore-rest"]


WHOLE = ["--dtype", "f8", *shape(ROWS, COLUMNS)]
# name: (the same reordering of a contiguous array, arguments)
PLAIN, PLANES, REVERSED = ["transpose", *WHOLE], ["transpose", "--dtype", "f8", *shape(FRAMES, HEIGHT, COLUMNS), "--axes", "2,0,1"], \
    ["bitreverse", "--dtype", "f8"]
CASES = {
    "padded rows": (PLAIN, ["transpose", "--dtype", "f8", *shape(ROWS, LESS), *strides(PITCH, 8)]),
    "padded frames": (PLANES, ["transpose", "--dtype", "f8", *shape(FRAMES, HEIGHT - 1, COLUMNS), *strides(HEIGHT * PITCH, PITCH, 8),
                               "--axes", "2,0,1"]),
    "crop": (PLAIN, [*PLAIN, "--select", "64:-64, 64:-64"]),
    "flipped rows": (PLAIN, [*PLAIN, "--select", "::-1"]),
    "flipped columns": (PLAIN, [*PLAIN, "--select", ":, ::-1"]),
    "half a turn": (PLAIN, [*PLAIN, "--select", "::-1, ::-1"]),
    "column-major": (PLAIN, ["transpose", "--dtype", "f8", *shape(COLUMNS, ROWS), "--order", "F", "--axes", "0,1"]),
    "byte swap": (PLAIN, [*PLAIN, "--byte-order", "big"]),
    "every other row": (PLAIN, [*PLAIN, "--select", "::2"]),
    "every other column": (PLAIN, [*PLAIN, "--select", ":, ::2"]),
    "a field of 4 bytes in 8": (PLAIN, ["transpose", "--dtype", "f4", *shape(ROWS, COLUMNS), *strides(PITCH, 8)]),
    "padded rows, bit reversal": (REVERSED, ["bitreverse", "--dtype", "f8", *shape(ROWS // 2, COLUMNS // 2), *strides(PITCH, 8)]),
}


def prepare():
    if os.path.exists(SOURCE) and os.path.getsize(SOURCE) == N:
        return
    block = random.randbytes(1 << 20)
    with open(SOURCE, "wb") as file:
        for _ in range(N >> 20):
            file.write(block)


def seconds(arguments):
    """Of a run, as it says itself; and bytes of the output."""
    if os.path.exists(TARGET):
        os.unlink(TARGET)
    if not options.warm:
        file = os.open(SOURCE, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    begin = time.monotonic()
    result = subprocess.run([options.program, arguments[0], SOURCE, TARGET, *arguments[1:], "-q"], check=False)
    took = time.monotonic() - begin
    if result.returncode != 0:
        sys.exit(f"failed: {arguments}")
    return took, os.path.getsize(TARGET)


prepare()
print(f"{'cached' if options.warm else 'cold'}, {options.bytes} MiB, {ROWS} x {COLUMNS} doubles, {options.rounds} rounds, seed {options.seed}")
print(f"{'':26} {'plain, s':>9} {'this, s':>9}  for each byte of the output: median (all rounds)")
for name, (plain, arguments) in CASES.items():
    if options.only not in name:
        continue
    if options.warm:
        seconds(plain)
    pairs = []
    for i in range(options.rounds):
        pair = [seconds(which) for which in ([plain, arguments] if i % 2 == 0 else [arguments, plain])]
        pairs.append(pair if i % 2 == 0 else pair[::-1])
    ratios = [(b / b_bytes) / (a / a_bytes) for (a, a_bytes), (b, b_bytes) in pairs]
    print(f"{name:26} {statistics.median(a for (a, _), _ in pairs):9.3f} {statistics.median(b for _, (b, _) in pairs):9.3f}  "
          f"{statistics.median(ratios):.2f} ({', '.join(f'{ratio:.2f}' for ratio in ratios)})", flush=True)
for file in [SOURCE, TARGET]:
    os.unlink(file)
