"""Paths beside opt_einsum and cotengra in one run, as log10 of products (seconds): markdown rows.

python3 tensor/bench/path_peers.py build/release/tensor/bench/tensor_paths [seconds of cotengra, 15]
The peers are used where they can be imported (pip install opt_einsum cotengra cotengrust kahypar).
"""
import importlib.util
import json
import math
import subprocess
import sys
import tempfile
import time

PROGRAM, SECONDS = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 15


def products(network, path):
    """log10 of the products of a path of positions: the count is ours, so that all columns count alike."""
    terms = [frozenset(t) for t in network["inputs"]]
    count = {}
    for t in terms:
        for l in t:
            count[l] = count.get(l, 0) + 1
    for l in network["output"]:
        count[l] = count.get(l, 0) + 1
    terms = [frozenset(l for l in t if count[l] > 1) for t in terms]
    total = 0
    for step in path:
        chosen = [terms[i] for i in step]
        terms = [t for i, t in enumerate(terms) if i not in step]
        union = frozenset().union(*chosen)
        rest = frozenset(network["output"]).union(*terms)
        total += math.prod(network["sizes"][l] for l in union)
        terms.append(union & rest)
    return math.log10(total)


def letter(label):
    return chr(0x4E00 + label)


def small(network):
    """Where opt_einsum's dynamic programming ends within seconds."""
    return len(network["inputs"]) <= 16 or network["name"].startswith("MPS")


def peers():
    if importlib.util.find_spec("opt_einsum"):
        import opt_einsum as oe
        size = lambda n: {i: s for i, s in enumerate(n["sizes"])}
        args = lambda n: ([set(t) for t in n["inputs"]], set(n["output"]), size(n))
        yield "oe greedy", lambda n: oe.paths.greedy(*args(n))
        yield "oe rg-128", lambda n: oe.path_random.RandomGreedy(max_repeats=128)(*args(n))
        yield "oe dp", lambda n: oe.paths.dynamic_programming(*args(n)) if small(n) else None
    if importlib.util.find_spec("cotengra"):
        import cotengra as ctg
        tree = lambda n, **kw: ctg.HyperOptimizer(progbar=False, parallel=False, **kw).search(
            [tuple(map(letter, t)) for t in n["inputs"]], tuple(map(letter, n["output"])),
            {letter(i): s for i, s in enumerate(n["sizes"])}).get_path()
        yield "cotengra greedy", lambda n: tree(n, methods=["greedy"], max_time=SECONDS, max_repeats=10**6)
        if importlib.util.find_spec("kahypar"):
            yield "kahypar + reconf", lambda n: tree(n, methods=["kahypar"], max_time=SECONDS, max_repeats=10**6, reconf_opts={})
    if importlib.util.find_spec("cotengrust"):
        import cotengrust
        yield "cotengrust rg-128", lambda n: cotengrust.optimize_random_greedy_track_flops(
            [[letter(l) for l in t] for t in n["inputs"]], [letter(l) for l in n["output"]],
            {letter(i): float(s) for i, s in enumerate(n["sizes"])}, ntrials=128, use_ssa=False)[0]


with tempfile.NamedTemporaryFile(suffix=".json") as file:
    subprocess.run([PROGRAM, file.name], check=True, stdout=subprocess.DEVNULL)
    networks = json.load(open(file.name))
found = list(peers())
print("| network |", " | ".join(list(networks[0]["ours"]) + [name for name, _ in found]), "|")
for network in networks:
    cells = [f"{cost:.3f} ({seconds:.3f})" for cost, seconds in network["ours"].values()]
    for name, search in found:
        start = time.perf_counter()
        path = search(network)
        seconds = time.perf_counter() - start
        cells.append("-" if path is None else f"{products(network, path):.3f} ({seconds:.2f})")
    print("|", network["name"], "|", " | ".join(cells), "|", flush=True)
