"""The figures of documents and deep dives: which commands each takes, what it draws, which table stands under it."""
import re
import statistics
import textwrap

import svg

ALL = {}


class Figure:
    def __init__(self, caption, picture, table=None):
        self.caption, self.svg, self.table, self.commands = caption, picture, table, []


def figure(function):
    ALL[function.__name__.replace("_", "-")] = function
    return function


def row(run, operation, options, machine="sim:trn2"):
    return run(f"bench {operation} {options} --exec {machine} --model-only")[0]


def seconds(run, operation, options, machine="sim:trn2"):
    return row(run, operation, options, machine)["modelled_seconds"]


def digits(value):
    """Three of them."""
    return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f}" if value < 1000 else f"{value:.0f}"


def time(s):
    return f"{digits(s * 1e3)} ms" if s >= 0.9995e-3 else f"{digits(s * 1e6)} us"


# ---- docs/scale.md

def scaling(run, operation, title):
    points = run(f"scale {operation} --curves")["strong"]
    chips = [p["chips"] * p["nodes"] for p in points]
    ideal = [(n, points[0]["eta_1"]["seconds"] / n) for n in chips]
    third = [(n, p["seconds"]) for n, p in zip(chips, points)]
    one = [(n, p["eta_1"]["seconds"]) for n, p in zip(chips, points)]
    rows = [["chips", "eta 1/3", "efficiency", "binding", "eta 1", "efficiency"]]
    for n, p in zip(chips, points):
        rows.append([f"{n}", time(p["seconds"]), f"{100 * p['efficiency']:.0f} %", p["binding"], time(p["eta_1"]["seconds"]),
                     f"{100 * p['eta_1']['efficiency']:.0f} %"])
    return Figure(f"{title} over chips of trn2, modelled; dashed: one chip's time, divided.",
                  svg.times(f"{title} over chips", [("eta 1/3", third, 1, False), ("eta 1", one, 0, False), ("ideal", ideal, 2, True)],
                            "chips; 16 are an instance"), rows)


@figure
def scale_gemm(run):
    return scaling(run, "gemm --n 65536", "A product of 65536 x 65536 float32 matrices")


@figure
def scale_fft(run):
    return scaling(run, "fft --n 2048,2048,2048", "A transform of 2048^3 points")


# ---- docs/precision.md and docs/mp2.md

@figure
def precision_modes(run):
    drawn, rows = [], [["operands, mode", "largest error", "bound", "modelled, 256^3", "modelled, 4096^3"]]
    cases = [("fp32", x) for x in ("bf16", "tf32", "native", "tf32x3", "bf16x6")] + [("fp64", "exact")]
    for dtype, mode in cases:
        r = run(f"bench blas.gemm --m 256 --n 256 --k 256 --dtype {dtype} --precision {mode} --exec sim:trn2")[0]
        large = seconds(run, "blas.gemm", f"--m 4096 --n 4096 --k 4096 --dtype {dtype} --precision {mode}")
        drawn.append((f"{dtype}, {mode}", r["error"], r["bound"], f"{time(large)} at 4096^3"))
        rows.append([f"{dtype}, {mode}", f"{r['error']:.1e}", f"{r['bound']:.1e}", time(r["modelled_seconds"]), time(large)])
    return Figure("Every mode of a product: the largest error of 256^3 (full) and the bound that was promised (open), simulated on trn2; times are modelled.",
                  svg.spans("What a mode promises, and what happens", drawn, -18, -2, "error and bound, relative to |A||B|"), rows)


@figure
def mp2_stages(run):
    drawn, rows = [], [["shape", "transform", "solve", "energies", "total"]]
    for name, shape in (("benzene", "21 420 93"), ("(H2O)8", "40 672 152")):
        nocc, naux, nvir = shape.split()
        said = run.text(f"mp2-model --nocc {nocc} --naux {naux} --nvir {nvir}")
        times = {m[0]: (float(m[1]), m[2]) for m in re.findall(r"^(transform|solve|energies) .*? ([\d.]+) (us|ms|s) ", said, re.M)}
        total = re.search(r"^total (.*)$", said, re.M).group(1)
        rows.append([name, *(f"{times[x][0]:g} {times[x][1]}" for x in ("transform", "solve", "energies")), total])
        for stage, (value, unit) in times.items():
            in_ms = value * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]
            drawn.append((f"{name}: {stage}", in_ms, f"{value:g} {unit}", int(stage == "solve")))
    return Figure("The three stages of the MP2 part in float64 on one trn2 core, modelled: the solve, with its many small launches, is the slowest.",
                  svg.bars("Stages of the MP2 part, float64 in Exact", drawn, "ms, modelled on trn2"), rows)


# ---- trnblas

@figure
def blas_contrast(run):
    return Figure("Two ways to float64 from 8-bit products: slices need every pair, residues one product each.", svg.contrast(
        "float64 from narrow products, two ways",
        ("Slices", ["cut each number into s slices of 8 bits", "multiply every pair of slices that counts:\ns (s + 1) / 2 products",
                    "add products of one weight exactly", "add the weights in float64,\nwhich no engine here has"], "s = 7: 28 products"),
        ("Residues, what trnblas does", ["round rows and columns to integers,\n62 bits at most", "residues |r| <= 90 modulo 16 coprime numbers,\nmade by Vector, Scalar and GpSimd",
                                         "one bfloat16 product per modulus: sums of\n2048 stay below 2^24, exact in PSUM", "Chinese remainders as a product over moduli,\ndigits of 12 bits"],
         "16 products")))


@figure
def blas_modes(run):
    cases = [("bf16", "--dtype bf16", 1), ("fp32, tf32x3", "--dtype fp32 --precision tf32x3", 3), ("fp32, native", "--dtype fp32", 4),
             ("fp32, bf16x6", "--dtype fp32 --precision bf16x6", 6), ("fp64, exact, 16 moduli", "--dtype fp64 --precision exact", 16),
             ("fp64, exact, 18 moduli", "--dtype fp64 --precision exact --moduli 18", 18)]
    drawn, rows = [], [["product", "full-rate passes", "modelled", "TF/s"]]
    for label, options, passes in cases:
        r = row(run, "blas.gemm", f"--m 4096 --n 4096 --k 4096 {options}")
        t = r["modelled_seconds"]
        drawn.append((label, t, time(t), int("fp64" in label)))
        rows.append([label, str(passes), time(t), digits(r["gflops"] / 1e3)])
    return Figure("4096 x 4096 x 4096 on one trn2 core, modelled. fp32 costs four passes by itself.",
                  svg.bars("One product of 4096^3, modelled on trn2", drawn, "modelled time, launch included"), rows)


@figure
def blas_exact_sizes(run):
    drawn, rows = [], [["N", "fp32 native", "fp64 exact", "ratio", "in Exact: Tensor Engine busy", "GpSimd busy"]]
    for n in (128, 256, 512, 1024, 2048, 4096):
        a = seconds(run, "blas.gemm", f"--m {n} --n {n} --k {n} --dtype fp32")
        b = seconds(run, "blas.gemm", f"--m {n} --n {n} --k {n} --dtype fp64 --precision exact")
        drawn.append((f"N = {n}", b / a, f"{digits(b / a)} times fp32", 1))
        said = run.text(f"profile blas.gemm --m {n} --n {n} --k {n} --dtype fp64 --precision exact")
        busy = [re.search(rf"^{lane} .*? ([\d.]+ %)", said, re.M).group(1) for lane in ("tensor", "gpsimd")]
        rows.append([str(n), time(a), time(b), digits(b / a), *busy])
    for machine in ("trn1", "trn3"):
        b = seconds(run, "blas.gemm", "--m 4096 --n 4096 --k 4096 --dtype fp64 --precision exact", f"sim:{machine}")
        rows.append([f"4096 on {machine}", "-", time(b), "-", "-", "-"])
    return Figure("What float64 costs beside float32, by size, modelled on trn2 unless it says otherwise.",
                  svg.bars("Exact float64 over native float32", drawn, "ratio of modelled times"), rows)


# ---- trnfft

@figure
def fft_contrast(run):
    return Figure("16384 points: fourteen passes of small butterflies, or two products with 128 x 128 matrices.", svg.contrast(
        "16384 points, two decompositions",
        ("Butterflies", ["reorder by reversed bits", "14 passes of 2 x 2 butterflies", "each pass: pairs at another distance,\nacross partitions", "an array of 128 x 128 given 2 x 2"],
         "2 rows of 128 at work"),
        ("Products, what trnfft does", ["the line is a 128 x 128 matrix in SBUF", "Tensor Engine: DFT matrix of 128 times it", "Vector Engine: twiddles, out of PSUM",
                                        "Tensor Engine: the other DFT matrix"], "all 128 rows, one trip through HBM")))


@figure
def fft_lengths(run):
    drawn, rows = [], [["points", "lines", "modelled", "GFLOP/s, 5 n log2 n"]]
    for n in (16, 64, 97, 128, 256, 1021, 1024, 16384, 32768, 2097152):
        batch = 8388608 // n
        r = row(run, "fft.c2c", f"--n {n} --batch {batch}")
        t = r["modelled_seconds"]
        drawn.append((f"{n} points", t, time(t), int(n in (97, 1021))))
        rows.append([str(n), str(batch), time(t), f"{r['gflops']:.0f}"])
    return Figure("About 8.4 million complex float32 points in lines of different length, modelled on trn2; orange: primes.",
                  svg.bars("The same number of points, cut into lines", drawn, "modelled time"), rows)


@figure
def fft_words(run):
    cases = [("fft.c2c", "--n 128 --batch 65536"), ("fft.c2c", "--n 1024 --batch 8192"), ("fft.c2c", "--n 16384 --batch 512"), ("fft.r2c", "--n 16384 --batch 512")]
    drawn, rows = [], [["transform", "native", "tf32x3", "bf16x6"]]
    for operation, options in cases:
        times = [seconds(run, operation, f"{options} --precision {p}") for p in ("native", "tf32x3", "bf16x6")]
        name = f"{operation[4:]} {options.split()[1]}"
        rows.append([f"{name}, {options.split()[3]} lines", *map(time, times)])
        drawn += [(f"{name}, tf32x3", times[1] / times[0], digits(times[1] / times[0]), int(times[1] > times[0]))]
    return Figure("Time in tf32x3 over native float32; orange where the three products at full rate lose.",
                  svg.bars("tf32x3 over native", drawn, "ratio of modelled times"), rows)


# ---- trnrand

@figure
def rand_contrast(run):
    return Figure("A round of Philox where there is a 32-bit multiplier, and where there is not.", svg.contrast(
        "One round of Philox4x32-10",
        ("With a 32-bit multiplier", ["one thread, one counter block", "low and high word of x * M:\ntwo instructions", "exclusive or, ten rounds in registers"], "one kind of unit"),
        ("On a NeuronCore", ["GpSimd: four products of 16-bit halves,\nexact in 32 bits", "Vector: sums of halves, below 2^24,\nso exact in its fp32; exclusive or",
                             "Scalar: copies, and the step to floats"], "three engines; the Tensor Engine idles")))


@figure
def rand_rates(run):
    cases = [("philox words", "rand.raw32", "--algorithm philox", 0), ("philox normal", "rand.normal", "--algorithm philox", 0), ("philox cauchy", "rand.cauchy", "--algorithm philox", 0),
             ("threefry words", "rand.raw32", "--algorithm threefry", 0), ("threefry normal", "rand.normal", "--algorithm threefry", 0),
             ("sobol32 words", "rand.raw32", "--algorithm sobol32", 1), ("sobol32 from point 5", "rand.raw32", "--algorithm sobol32 --position 5", 1)]
    drawn, rows = [], [["draw", "trn1", "trn2", "trn3"]]
    for label, operation, options, kind in cases:
        found = run(f"bench {operation} --count 67108864 {options} --exec sim:trn1,sim:trn2,sim:trn3 --model-only")
        rates = [67.108864e-3 / x["modelled_seconds"] for x in found]
        drawn.append((label, rates[1], digits(rates[1]), kind))
        rows.append([label, *map(digits, rates)])
    return Figure("10^9 values per second of one core, 2^26 values, modelled; the bars are trn2.", svg.bars("Draws per second, modelled on trn2", drawn, "1e9 values per second"), rows)


@figure
def rand_sizes(run):
    drawn, rows = [], [["values", "modelled", "1e9 values/s"]]
    for power in (12, 16, 20, 22, 24, 26):
        t = seconds(run, "rand.raw32", f"--count {2 ** power} --algorithm philox")
        rate = 2 ** power / t / 1e9
        drawn.append((f"2^{power} words", rate, digits(rate), 0))
        rows.append([f"2^{power}", time(t), digits(rate)])
    return Figure("Philox words on trn2 by the size of a draw, modelled.", svg.bars("Small draws are launches", drawn, "1e9 values per second, modelled on trn2"), rows)


# ---- trnsolver

@figure
def solver_contrast(run):
    return Figure("Blocked Cholesky as usual, and with a panel that brings its own inverse.", svg.contrast(
        "Blocked Cholesky, what waits for what",
        ("As usual", ["panel: 128 columns, one after another", "triangular solve with the panel:\n128 more dependent steps", "update of everything to the right", "next panel"], "the array waits twice per panel"),
        ("What trnsolver does", ["one chain eliminates the block, the rows\nbelow and the identity: L and L^-1", "the solve is a product with L^-1",
                                 "beside the next chain: last row solved,\nnext row updated from HBM", "next chain"], "the chain is the time; the rest hides")))


@figure
def solver_potrf(run):
    drawn, rows = [], [["n", "modelled", "per panel of 128", "GFLOP/s"]]
    for n in (128, 256, 512, 1024, 2048, 4096):
        r = row(run, "solver.potrf", f"--n {n}")
        t = r["modelled_seconds"]
        drawn.append((f"n = {n}", t / (n / 128), time(t / (n / 128)), 0))
        rows.append([str(n), time(t), time(t / (n / 128)), f"{r['gflops']:.0f}"])
    return Figure("Cholesky in float32, modelled on trn2, what one panel of 128 columns takes of the time.",
                  svg.bars("Time per panel of 128 columns", drawn, "modelled time / (n / 128)"), rows)


# ---- trnsparse

@figure
def sparse_contrast(run):
    return Figure("A row of a sparse matrix as CUDA has it, and as tiles.", svg.contrast(
        "Sparse times dense, two units of work",
        ("The entry is the unit", ["row by row, a warp for a row", "fetch x[j] for every entry", "multiply, add, reduce across lanes"], "here: 0.58 us for 128 fetches"),
        ("The tile is the unit", ["128 rows; the columns they touch,\n128 to a tile", "the tile is a stationary operand,\nzeros and all", "up to 512 columns of B stream past"], "the number of tiles decides everything")))


@figure
def sparse_orders(run):
    rows, drawn = [["matrix, order", "32 columns", "512 columns", "host core at 30 GFLOP/s: 32, 512"]], []
    for matrix in ("poisson2d:200", "stencil27:24", "rmat:12"):
        for order in ("none", "rcm", "partition"):
            found = [row(run, "sparse.spmm", f"--dtype fp32 --generate {matrix} --columns {c} --reorder {order}") for c in (32, 512)]
            host = [2 * x["shape"]["nnz"] * x["shape"]["n"] / 30e9 for x in found]
            rows.append([f"{matrix}, {order}", *(f"{x['shape']['kernel']}, {time(x['modelled_seconds'])}" for x in found), ", ".join(map(time, host))])
            drawn.append((f"{matrix}, {order}", found[1]["modelled_seconds"], time(found[1]["modelled_seconds"]), int(found[1]["shape"]["kernel"] == "gather")))
    return Figure("Sparse times 512 dense columns in three orders of the rows, modelled on trn2; all of them gather.",
                  svg.bars("512 columns, three orders", drawn, "modelled time; orange: gather kernel"), rows)


@figure
def sparse_columns(run):
    drawn, rows = [], [["columns", "kernel", "device", "host core", "quicker"]]
    for columns in (1, 8, 32, 128, 512):
        r = row(run, "sparse.spmm", f"--dtype fp32 --generate poisson2d:200 --columns {columns} --reorder best")
        host = 2 * r["shape"]["nnz"] * columns / (4.5e9 if columns == 1 else 30e9)
        t = r["modelled_seconds"]
        drawn.append((f"{columns} columns", host / t, digits(host / t), int(host < t)))
        rows.append([str(columns), r["shape"]["kernel"], time(t), time(host), "device" if t < host else "host"])
    return Figure("A 5-point grid of 200 x 200, device against one host core taken at 4.5 GFLOP/s (one column) or 30; orange: the host wins.",
                  svg.bars("Host core's time over the device's", drawn, "ratio; the device's time is modelled, the host's a rate"), rows)


# ---- trntensor

@figure
def tensor_contrast(run):
    return Figure("A contraction by transposes around a product, and by one kernel that folds indices.", svg.contrast(
        "aebf, efcd -> abcd",
        ("Transpose, multiply, transpose", ["write a permuted copy of A", "write a permuted copy of B", "gemm", "write a permuted copy of D"], "three more trips through HBM"),
        ("One program, indices folded", ["K = (e, f) on partitions, any mixture", "a panel in SBUF is one flat axis:\ntiles ignore borders of indices", "gemm's own words, sums, PSUM", "D stored where its strides say"],
         "one launch, intermediates in HBM scratch")))


@figure
def tensor_layouts(run):
    sizes = "--sizes " + ",".join(f"{x}=48" for x in "abcdef")
    base = seconds(run, "blas.gemm", "--m 2304 --n 2304 --k 2304 --dtype fp32")
    drawn, rows = [("blas.gemm, 2304^3", base, time(base), 2)], [["einsum", "modelled", "of gemm's time"], ["blas.gemm, 2304^3", time(base), "1"]]
    for expression in ("efab,efcd->abcd", "aebf,efcd->abcd", "aebf,dfce->abcd"):
        t = seconds(run, "tensor.einsum", f"--expression {expression} {sizes}".replace(expression, f"'{expression}'"))
        drawn.append((expression, t, time(t), int(t > 1.2 * base)))
        rows.append([f"`{expression}`", time(t), digits(t / base)])
    return Figure("The same arithmetic in four layouts, all extents 48, float32, modelled on trn2.", svg.bars("One product, four layouts", drawn, "modelled time"), rows)


@figure
def tensor_moves(run):
    cases = [("tensor.permute", "abc->cba", "a=256,b=256,c=256"), ("tensor.permute", "abc->bac", "a=256,b=256,c=256"), ("tensor.permute", "dfce->efcd", "d=48,f=48,c=48,e=48"),
             ("tensor.reduce", "abc->b", "a=256,b=256,c=256")]
    drawn, rows = [], [["operation", "extents", "modelled", "GB/s"]]
    for operation, expression, sizes in cases:
        r = row(run, operation, f"--expression '{expression}' --sizes {sizes}")
        drawn.append((f"{operation[7:]} {expression}", r["rate"], digits(r["rate"]), 0))
        rows.append([f"{operation[7:]} `{expression}`", sizes.split(",")[0].split("=")[1], time(r["modelled_seconds"]), digits(r["rate"])])
    return Figure("Moving tensors on trn2, modelled, bytes read and written per second.", svg.bars("Bytes per second of pure movement", drawn, "GB/s, modelled"), rows)


# ---- the simulator

@figure
def simulator_contrast(run):
    count = len(run("validate"))
    return Figure("What a run of a kernel on arrays can answer, and what this simulator is asked.", svg.contrast(
        "Two kinds of simulation",
        ("Run it on arrays", ["each instruction as a function of arrays", "in program order", "compare the result with a reference"], "right bits, in the one order that was tried"),
        ("Run the program as a machine", ["bits: rounded on every write, or in doubles", "order: any legal one, shuffled by a seed", "time: occupied, visible, semaphore,\nengine by engine"],
         f"and {count} published kernels to be wrong about")))


@figure
def simulator_ratios(run):
    found = run("validate")
    groups, rows = [], [["rows", "number", "median deviation", "largest"]]
    for kind in ("fitted", "predicted"):
        for machine in ("trn1", "trn2"):
            ratios = [x["ratio"] for x in found if x["kind"] == kind and x["machine"] == machine]
            groups.append((f"{kind}, {machine}", ratios, int(kind == "predicted")))
            off = [abs(x - 1) for x in ratios]
            rows.append([f"{kind}, {machine}", str(len(ratios)), f"{100 * statistics.median(off):.1f} %", f"{100 * max(off):.1f} %"])
    return Figure("Modelled over published time of every kernel that the simulator is held against.",
                  svg.dots("Modelled time over published time", groups, 0.55, 2.4, "ratio; 1 is a perfect prediction"), rows)


@figure
def simulator_worst(run):
    found = sorted((x for x in run("validate") if abs(x["ratio"] - 1) > 0.2), key=lambda x: -abs(x["ratio"] - 1))
    rows = [["kernel", "machine", "published", "modelled", "ratio"]]
    for x in found:
        rows.append([x["name"], x["machine"], time(x["measured_us"] / 1e6), time(x["modelled_us"] / 1e6), f"{x['ratio']:.2f}"])
    drawn = [(textwrap.shorten(x["name"], 34, placeholder=" ..."), abs(x["ratio"] - 1), f"{100 * (x['ratio'] - 1):+.0f} %", int(x["ratio"] > 1)) for x in found]
    return Figure("Every kernel that the model misses by more than 20 %.", svg.bars("The misses", drawn, "deviation; orange: too slow, blue: too fast"), rows)


# ---- DF-MP2

@figure
def mp2_contrast(run):
    return Figure("The pair energies as library calls, and as one program.", svg.contrast(
        "Pair energies: for every pair of orbitals i, j",
        ("Library calls", ["gemm: T = B_i^T B_j, stored to HBM", "elementwise: T / D, read and stored", "transpose: T^T for exchange, read and stored", "reduce: read once more"], "nvir^2 numbers through HBM, five times"),
        ("One program", ["Tensor: T in one PSUM bank", "Scalar: weights by rsqrt; Vector: Z = T * weight", "Tensor: blocks of Z transposed; Vector: Z - Z^T", "Scalar: squares, summed on the way"], "T never leaves the chip")))


@figure
def mp2_pairs(run):
    drawn, rows = [], [["shape: occupied, fitting, virtual", "tf32x3", "native", "exact, float64", "exact over tf32x3"]]
    for name, (nocc, naux, nvir) in (("benzene", (21, 420, 93)), ("(H2O)8", (40, 672, 152)), ("medium", (64, 1536, 448))):
        base = f"--nocc {nocc} --naux {naux} --nvir {nvir}"
        times = [seconds(run, "blas.pair_energy", f"{base} {x}") for x in ("--precision tf32x3", "--precision native", "--dtype fp64")]
        rows.append([f"{name}: {nocc}, {naux}, {nvir}", *map(time, times), digits(times[2] / times[0])])
        drawn.append((name, times[2] / times[0], digits(times[2] / times[0]), 1))
    return Figure("Pair energies of three shapes on one trn2 core, modelled; bars: what float64 costs over tf32x3.", svg.bars("Float64 over tf32x3, pair energies", drawn, "ratio of modelled times"), rows)
