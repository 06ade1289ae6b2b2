"""Host contractions and permutations beside their peers in one run: markdown rows, then geometric means.

OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python3 tensor/bench/host_peers.py build/release/tensor/bench/tensor_host_speed
    [--what tccg32 | tccg64 | permute] [--from N] [--count N] [--runs 3] [--hptt libhptt.so] [--without torch]

Case after case the program is run for its own figures, OpenBLAS's and memcpy's, then each peer that can be imported
(pip install numpy opt_einsum torch pytblis) or loaded (HPTT, built beside: its C function sTensorTranspose). Processor
time of the thread, the least of `runs`, with operands and results column-major, as TCCG has them. Peers write into an
array that exists where they can; HPTT's time is that of a call, planning included.
"""
import argparse
import ctypes
import importlib.util
import math
import os
import subprocess
import time

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--what", default="tccg32", choices=["tccg32", "tccg64", "permute"])
parser.add_argument("--from", dest="first", type=int, default=0)
parser.add_argument("--count", type=int, default=1000)
parser.add_argument("--runs", type=int, default=3)
parser.add_argument("--hptt")
parser.add_argument("--without", nargs="*", default=[], help="peers that are left out")
options = parser.parse_args()
TYPE = np.float64 if options.what == "tccg64" else np.float32
random = np.random.default_rng(1)


def least(call):
    """Seconds of the thread's processor time."""
    best = math.inf
    for _ in range(options.runs):
        begin = time.thread_time()
        call()
        best = min(best, time.thread_time() - begin)
    return best


def tensor(shape):
    """Column-major numbers."""
    return np.asfortranarray(random.random(shape, dtype=TYPE))


def installed(name):
    return name not in options.without and importlib.util.find_spec(name) is not None


def contractions():
    """Name of a peer, and what makes a call of it from labels and tensors."""
    yield "np.einsum", lambda a, b, d, ta, tb, td: lambda: np.einsum(f"{a},{b}->{d}", ta, tb, out=td, optimize=True)
    if installed("opt_einsum"):
        import opt_einsum

        def of_opt_einsum(a, b, d, ta, tb, td):
            expression = opt_einsum.contract_expression(f"{a},{b}->{d}", ta.shape, tb.shape)
            return lambda: expression(ta, tb, out=td)
        yield "opt_einsum", of_opt_einsum
    if installed("torch"):
        import torch
        torch.set_num_threads(1)

        def of_torch(a, b, d, ta, tb, td):
            xa, xb, xd = torch.from_numpy(ta), torch.from_numpy(tb), torch.from_numpy(td)
            return lambda: xd.copy_(torch.einsum(f"{a},{b}->{d}", xa, xb))
        yield "torch", of_torch
    if installed("pytblis"):
        import pytblis
        pytblis.set_num_threads(1)
        yield "TBLIS", lambda a, b, d, ta, tb, td: lambda: pytblis.mult(ta, tb, td, a, b, d)


def permutations():
    yield "numpy", lambda order, a, d: lambda: np.copyto(d, a.transpose(order))
    if installed("torch"):
        import torch
        torch.set_num_threads(1)
        yield "torch", lambda order, a, d: (
            lambda xa, xd: lambda: xd.copy_(xa.permute(order)))(torch.from_numpy(a), torch.from_numpy(d))
    if installed("pytblis"):
        import pytblis
        pytblis.set_num_threads(1)
        names = lambda n: "".join(chr(97 + i) for i in range(n))
        yield "TBLIS", lambda order, a, d: lambda: pytblis.add(
            a, d, names(a.ndim), "".join(names(a.ndim)[i] for i in order))
    if options.hptt:
        library = ctypes.CDLL(os.path.abspath(options.hptt))
        library.sTensorTranspose.argtypes = [
            ctypes.c_void_p, ctypes.c_int, ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
            ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]

        def of_hptt(order, a, d):
            integers = lambda list: (ctypes.c_int * len(list))(*list)
            perm, sizes = integers(order), integers(a.shape)
            return lambda: library.sTensorTranspose(perm, a.ndim, 1, a.ctypes.data, sizes, None, 0, d.ctypes.data,
                                                    None, 1, 1)  # the last: row-major
        yield "HPTT", of_hptt


def ours(case):
    """The program's own row: figures of ours and of OpenBLAS or memcpy, in GF/s or GB/s."""
    text = subprocess.run([options.program, options.what, case], check=True, capture_output=True, text=True).stdout
    words = text.splitlines()[1].split()
    at = 4 if options.what.startswith("tccg") else 1
    return float(words[at]), float(words[at + 1])


listed = subprocess.run([options.program, "list"], check=True, capture_output=True, text=True).stdout.splitlines()
kind = "tccg" if options.what.startswith("tccg") else "permute"
cases = [line.split(maxsplit=2)[1:] for line in listed if line.startswith(kind)]
cases = cases[options.first:options.first + options.count]
peers = list(contractions() if kind == "tccg" else permutations())
base = "OpenBLAS gemm" if kind == "tccg" else "memcpy"
print("|", options.what, "| ours |", base, "|", " | ".join(name for name, _ in peers), "| ours / base | ours / best peer |")
print("|---" * (len(peers) + 5) + "|")
logs = []
for name, text in cases:
    if kind == "tccg":
        d, a, b = name.split("-")
        sizes = {pair[0]: int(pair[2:]) for pair in text.split()}
        shape = lambda labels: tuple(sizes[l] for l in labels)
        ta, tb, td = tensor(shape(a)), tensor(shape(b)), np.zeros(shape(d), TYPE, order="F")
        work = 2.0 * math.prod(sizes.values())
        calls = [make(a, b, d, ta, tb, td) for _, make in peers]
        want = np.einsum(f"{a},{b}->{d}", ta, tb, optimize=True)
    else:
        given, wanted = name.split("->")
        order = [given.index(l) for l in wanted]
        shape = [int(word) for word in text.strip("()[]").split(",")]
        ta = random.random(shape, dtype=TYPE)
        want = np.ascontiguousarray(ta.transpose(order))
        td = np.zeros(want.shape, TYPE)
        work = 2.0 * ta.nbytes
        calls = [make(order, ta, td) for _, make in peers]
    figures = []
    for (peer, _), call in zip(peers, calls):
        td[...] = 0
        call()  # warm, and what is checked
        assert np.allclose(td, want, rtol=1e-3), (peer, name)
        figures.append(work / least(call) * 1e-9)
    mine, gemm = ours(name)
    logs.append((mine / gemm, mine / max(figures), [f / gemm for f in figures]))
    print(f"| `{name}` | {mine:.1f} | {gemm:.1f} |", " | ".join(f"{f:.1f}" for f in figures),
          f"| {mine / gemm:.2f} | {mine / max(figures):.2f} |", flush=True)
mean = lambda values: math.exp(sum(map(math.log, values)) / len(values))
print("geometric means, of", base + ": ours", f"{mean([l[0] for l in logs]):.3f},",
      ", ".join(f"{name} {mean([l[2][i] for l in logs]):.3f}" for i, (name, _) in enumerate(peers)))
print(f"ours over the best peer of each case: {mean([l[1] for l in logs]):.3f}; worst of {base}: "
      f"{min(l[0] for l in logs):.2f}; ahead of every peer in {sum(l[1] >= 1 for l in logs)} of {len(logs)}")
