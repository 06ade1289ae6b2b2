#!/usr/bin/env python3
"""Random plans through our FFTW interface and through FFTW itself, in one process: the results agree.

    fftw_peer.py OUR_FOLDER FFTW_FOLDER

Also compares the names: FFTW knows each of ours.
"""
import ctypes
import os
import random
import subprocess
import sys

import numpy as np

FORMS = ("dft", "dft_r2c", "dft_c2r", "r2r")


class Dim(ctypes.Structure):
    _fields_ = [("n", ctypes.c_ssize_t), ("stride_in", ctypes.c_ssize_t), ("stride_out", ctypes.c_ssize_t)]


def load(folder, letter):
    library = ctypes.CDLL(os.path.join(folder, f"libfftw3{letter}.so.3"), mode=os.RTLD_LOCAL | os.RTLD_NOW)
    prefix = f"fftw{letter}_"
    functions = {}
    for form in FORMS:
        plan = getattr(library, f"{prefix}plan_guru64_{form}")
        plan.restype = ctypes.c_void_p
        functions[form] = plan
    functions["execute"] = getattr(library, prefix + "execute")
    functions["destroy"] = getattr(library, prefix + "destroy_plan")
    return functions


def dimensions(generator, form):
    """Transformed axes and a batch, dense on either side in an order of its own."""
    rank, many = generator.randint(1, 3), generator.randint(0, 2)
    lengths = [generator.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16]) for _ in range(rank + many)]
    if form == "r2r":
        lengths = [max(n, 2) for n in lengths]
    sides = []
    for side in ("in", "out"):
        extents = list(lengths)
        if (form, side) in (("dft_r2c", "out"), ("dft_c2r", "in")):
            extents[rank - 1] = extents[rank - 1] // 2 + 1
        order, strides, step = list(range(rank + many)), [0] * (rank + many), generator.randint(1, 2)
        generator.shuffle(order)
        for axis in order:
            strides[axis] = step
            step *= extents[axis]
        sides.append((strides, step))
    dims = [Dim(n, a, b) for n, a, b in zip(lengths, sides[0][0], sides[1][0])]
    return dims[:rank], dims[rank:], sides[0][1], sides[1][1]


def run(functions, form, axes, batch, x, y, extra):
    plan = functions[form](len(axes), (Dim * len(axes))(*axes), len(batch), (Dim * len(batch))(*batch),
                           ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data), *extra, ctypes.c_uint(64 | 16 if len(axes) == 1 else 64))
    if not plan:
        sys.exit(f"no plan for {form} {[(d.n, d.stride_in, d.stride_out) for d in axes + batch]}")
    functions["execute"](ctypes.c_void_p(plan))
    functions["destroy"](ctypes.c_void_p(plan))


def compare(ours, theirs, letter, cases):
    generator, numbers = random.Random(1), np.random.default_rng(1)
    real, pair = (np.float32, np.complex64) if letter else (np.float64, np.complex128)
    worst = 0.0
    for case in range(cases):
        form = FORMS[case % 4]
        axes, batch, room_in, room_out = dimensions(generator, form)
        size = room_in
        x = numbers.uniform(-1, 1, size) + (1j * numbers.uniform(-1, 1, size) if form in ("dft", "dft_c2r") else 0)
        x = x.astype(pair if form in ("dft", "dft_c2r") else real)
        if form == "dft_c2r":  # half spectra of real signals, so that there is one answer: zeros but for the first point
            for index in np.ndindex(*[d.n // 2 + 1 if i + 1 == len(axes) else d.n for i, d in enumerate(axes)]):
                if any(index):
                    for place in np.ndindex(*[d.n for d in batch]):
                        at = sum(i * d.stride_in for i, d in zip(index, axes)) + sum(i * d.stride_in for i, d in zip(place, batch))
                        x[at] = x[at] if len(axes) == 1 and 2 * index[0] != axes[0].n else 0 if len(axes) > 1 else x[at].real
                else:
                    for place in np.ndindex(*[d.n for d in batch]):
                        at = sum(i * d.stride_in for i, d in zip(place, batch))
                        x[at] = x[at].real
        extra = []
        if form == "dft":
            extra = [generator.choice([-1, 1])]
        if form == "r2r":
            kinds = [generator.randint(0, 10) for _ in axes]
            extra = [(ctypes.c_int * len(kinds))(*kinds)]
        output = [np.full(room_out, 7, pair if form in ("dft", "dft_r2c") else real) for _ in range(2)]
        for functions, y in zip((ours, theirs), output):
            run(functions, form, axes, batch, x.copy(), y, extra)
        error = np.linalg.norm(output[0] - output[1]) / max(np.linalg.norm(output[1]), 1e-300)
        worst = max(worst, error)
        if not error < (2e-6 if letter else 4e-15):
            sys.exit(f"{form} {[(d.n, d.stride_in, d.stride_out) for d in axes + batch]} {extra}: they differ by {error}")
    return worst


def names(folder, letter, part=""):
    path = os.path.join(folder, f"libfftw3{letter}{part}.so.3")
    listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[2] for line in listed.splitlines() if f" fftw{letter}_" in line}


def main():
    own, other = sys.argv[1:3]
    for letter in ("", "f"):
        unknown = sorted(names(own, letter) - names(other, letter) - names(other, letter, "_threads"))
        if unknown:
            sys.exit(f"FFTW does not have {unknown}")
        worst = compare(load(own, letter), load(other, letter), letter, 400)
        print(f"fftw{letter}: 400 plans agree, largest relative difference {worst:.1e}")


main()
