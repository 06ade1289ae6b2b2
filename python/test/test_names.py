"""docs/python-names.md, row by row: the name is there, and called as the Python trnsci was it gives the right numbers.

CASES has one entry for each row, by the name on the left. An entry is called with the function on the right. OTHERWISE has one for each
row of what has another form here, or none: that the form does what the name did, or that the name is not there.
"""
import importlib.util
import pathlib
import re

import numpy as np
import pytest
import scipy.sparse

import trnsci
from trnsci import sparse

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = re.findall(r"^\| `([\w.]+)` \| `trnsci\.([\w.]+)` \|", (ROOT / "docs" / "python-names.md").read_text(), re.M)
OTHER_ROWS = re.findall(r"^\| `(trn\w+\.[\w.]+)` \| (?!`trnsci[\w.]+` \|)(.+) \|$", (ROOT / "docs" / "python-names.md").read_text(), re.M)
R = np.random.default_rng(2)
A, B, C = (R.standard_normal((4, 4)) for _ in range(3))
S = A @ A.T + 4 * np.eye(4)
X, Y = R.standard_normal(4), R.standard_normal(4)
Z = X + 1j * Y
T = R.standard_normal((3, 4, 5))
U = np.triu(A) + 4 * np.eye(4)
M = scipy.sparse.csr_matrix(np.where(np.abs(A) > 0.5, A, 0))
D = M.toarray()
L = sparse.poisson(6, 6)
LD = L.to_dense()
ONES = np.ones(36)
SIGNAL = R.standard_normal(400)
SPECTRUM = trnsci.fft.stft(SIGNAL, 64)


def same(a, b, tol=1e-9):
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=tol, atol=tol * max(np.abs(b).max(initial=0), 1e-300))


def inside(x, low, high, size=1000):
    return x.shape == (size,) and x.min() >= low and x.max() < high


def mean(x, want, slack):
    return abs(float(np.mean(x, dtype=np.float64)) - want) < slack


def seeded():
    return trnsci.rand.Generator(5)


def filled(f, *arguments):
    buf = np.full(2000, np.nan, np.float32)
    f(buf, *arguments, generator=seeded())
    return buf


def programmed(f):
    program, buf = seeded().new_program(), np.empty(6, np.float32)
    program.normal(6, 1.0, 2.0, "z").build().stream_into({"z": buf})
    return buf if isinstance(program, f) else None


def torch_stft(x, n, hop):
    padded = np.pad(x, n // 2, mode="reflect")
    window = np.hanning(n + 1)[:-1]
    frames = np.stack([padded[i:i + n] * window for i in range(0, len(padded) - n + 1, hop)])
    return np.fft.rfft(frames).T


def solved(result, tol=1e-6):
    x, iterations, residual = result
    return same(LD @ x, ONES, 1e-5) and iterations > 0 and residual <= tol


def dense_attention(scale):
    s = np.exp(scale * A @ B.T)
    return s / s.sum(axis=1, keepdims=True) @ C


Q = np.array([1.0, 1e-3, 1e-6, 1e-9])
OUTER = np.outer(Q, Q) > 1e-10
BSR = sparse.BSRMatrix.from_dense(D, 2)
E_OCC, E_VIR = np.array([-2.0, -1.5]), np.array([1.0, 1.5, 2.0])
DF = R.standard_normal((2, 3, 6))
PAIRS = np.einsum("iap,jbp->ijab", DF, DF)
MP2 = (PAIRS * (2 * PAIRS - PAIRS.swapaxes(2, 3)) / (E_OCC[:, None, None, None] + E_OCC[:, None, None] - E_VIR[:, None] - E_VIR)).sum()


def tucker(f):
    core, factors = f(T, (3, 4, 5))
    return same(np.einsum("abc,ia,jb,kc->ijk", core, *factors), T)


CASES = {
    "trnfft.fft": lambda f: same(f(Z), np.fft.fft(Z)) and same(f(Z, 6), np.fft.fft(Z, 6)),
    "trnfft.ifft": lambda f: same(f(Z), np.fft.ifft(Z)),
    "trnfft.rfft": lambda f: same(f(X, 7), np.fft.rfft(X, 7)),
    "trnfft.irfft": lambda f: same(f(Z, 6), np.fft.irfft(Z, 6)),
    "trnfft.hfft": lambda f: same(f(Z), np.fft.hfft(Z)),
    "trnfft.ihfft": lambda f: same(f(X), np.fft.ihfft(X)),
    "trnfft.fft2": lambda f: same(f(A), np.fft.fft2(A)),
    "trnfft.fftn": lambda f: same(f(T, None, (0, 2)), np.fft.fftn(T, axes=(0, 2))),
    "trnfft.ifftn": lambda f: same(f(T), np.fft.ifftn(T)),
    "trnfft.rfft2": lambda f: same(f(A), np.fft.rfft2(A)),
    "trnfft.irfft2": lambda f: same(f(np.fft.rfft2(A), (4, 4)), A),
    "trnfft.rfftn": lambda f: same(f(T), np.fft.rfftn(T)),
    "trnfft.irfftn": lambda f: same(f(np.fft.rfftn(T), T.shape), T),
    "trnfft.stft": lambda f: same(f(SIGNAL, 64, 16), torch_stft(SIGNAL, 64, 16)),
    "trnfft.istft": lambda f: same(f(SPECTRUM, 64, length=400), SIGNAL),
    "trnfft.complex_matmul": lambda f: same(f(A + 1j * B, C + 0j), (A + 1j * B) @ C),
    "trnfft.complex_gemm": lambda f: same(f(A + 1j * B, C + 0j), (A + 1j * B) @ C),
    "trnfft.complex_linear": lambda f: same(f(A + 1j * B, B, C), (A + 1j * B) @ (B + 1j * C).T),
    "trnfft.complex_mask_apply": lambda f: same(f(A + 1j * B, C + 2j), (A + 1j * B) * (C + 2j)),
    "trnfft.create_plan": lambda f: same(f(4)(Z.astype(np.complex64)), np.fft.fft(Z), 1e-5),
    "trnfft.clear_plan_cache": lambda f: f() is None,

    "trnblas.axpy": lambda f: same(f(2.0, X, Y), 2 * X + Y),
    "trnblas.dot": lambda f: same(f(X, Y), X @ Y),
    "trnblas.nrm2": lambda f: same(f(X), np.linalg.norm(X)),
    "trnblas.scal": lambda f: same(f(2.0, X), 2 * X),
    "trnblas.asum": lambda f: same(f(X), np.abs(X).sum()),
    "trnblas.iamax": lambda f: f(X) == np.abs(X).argmax(),
    "trnblas.gemv": lambda f: same(f(2.0, A, X, 3.0, Y, True), 2 * A.T @ X + 3 * Y),
    "trnblas.symv": lambda f: same(f(2.0, np.triu(S), X), 2 * S @ X),
    "trnblas.trmv": lambda f: same(f(A, X, "lower", True), np.tril(A).T @ X),
    "trnblas.ger": lambda f: same(f(2.0, X, Y, A), A + 2 * np.outer(X, Y)),
    "trnblas.gemm": lambda f: same(f(2.0, A, B, 3.0, C, True, False), 2 * A.T @ B + 3 * C),
    "trnblas.batched_gemm": lambda f: same(f(1.0, np.stack([A, B]), np.stack([B, C])), np.stack([A @ B, B @ C])),
    "trnblas.symm": lambda f: same(f(1.0, np.tril(S), B, 0.0, None, "right", "lower"), B @ S),
    "trnblas.syrk": lambda f: same(np.triu(f(1.0, A)), np.triu(A @ A.T)) and same(np.tril(f(1.0, A, 1.0, C), -1), np.tril(C, -1)),
    "trnblas.trsm": lambda f: same(f(2.0, U, B), np.linalg.solve(U, 2 * B)) and same(f(1.0, U, B, "right") @ U, B),
    "trnblas.trmm": lambda f: same(f(2.0, A, B, "left", "upper", True), 2 * np.triu(A).T @ B),

    "trnrand.Generator": lambda f: same(f(3).random(5), f(3).random(5)) and f(3).state == f(3).state,
    "trnrand.manual_seed": lambda f: (f(7), trnsci.rand.uniform(3))[1].tolist() == (f(7), trnsci.rand.uniform(3))[1].tolist(),
    "trnrand.get_default_generator": lambda f: isinstance(f(), trnsci.rand.Generator),
    "trnrand.uniform": lambda f: inside(f(1000, low=2.0, high=3.0, generator=seeded()), 2, 3),
    "trnrand.normal": lambda f: mean(f(100, 100, mean=3.0, std=2.0, generator=seeded()), 3, 0.1),
    "trnrand.standard_normal": lambda f: mean(f(100, 100, generator=seeded()) ** 2, 1, 0.1),
    "trnrand.exponential": lambda f: mean(f(10000, rate=2.0, generator=seeded()), 0.5, 0.03),
    "trnrand.bernoulli": lambda f: mean(f(10000, p=0.25, generator=seeded()), 0.25, 0.03),
    "trnrand.randint": lambda f: inside(f(1000, low=-3, high=4, generator=seeded()), -3, 4),
    "trnrand.randperm": lambda f: sorted(f(20, generator=seeded())) == list(range(20)),
    "trnrand.truncated_normal": lambda f: inside(f(1000, low=-1.0, high=1.0, generator=seeded()), -1, 1.0001),
    "trnrand.gamma": lambda f: mean(f(10000, shape=3.0, scale=2.0, generator=seeded()), 6, 0.2),
    "trnrand.chi_squared": lambda f: mean(f(10000, df=4.0, generator=seeded()), 4, 0.2),
    "trnrand.beta": lambda f: mean(f(10000, alpha=2.0, beta=6.0, generator=seeded()), 0.25, 0.02),
    "trnrand.poisson": lambda f: mean(f(10000, lam=30.0, generator=seeded()), 30, 0.4),
    "trnrand.uniform_into": lambda f: inside(filled(f), 0, 1, 2000),
    "trnrand.normal_into": lambda f: mean(filled(f, 1.0, 2.0), 1, 0.3),
    "trnrand.exponential_into": lambda f: mean(filled(f, 2.0), 0.5, 0.06) and np.isfinite(filled(f, 2.0)).all(),
    "trnrand.GeneratorProgram": lambda f: same(*(programmed(f), trnsci.rand.Generator(5).normal(1.0, 2.0, 6, dtype=np.float32))),
    "trnrand.sobol": lambda f: same(f(4, 2, scramble=False), [[0, 0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]) and f(8, 3, 1).shape == (8, 3),
    "trnrand.halton": lambda f: same(f(3, 2), [[1 / 2, 1 / 3], [1 / 4, 2 / 3], [3 / 4, 1 / 9]], 1e-6),
    "trnrand.latin_hypercube": lambda f: (np.sort((f(10, 3, generator=seeded()) * 10).astype(int), axis=0) == np.arange(10)[:, None]).all(),

    "trnsolver.eigh": lambda f: same(f(S, 1e-10)[0], np.linalg.eigvalsh(S)),
    "trnsolver.eigh_generalized": lambda f: same(np.sort(f(A + A.T, S)[0]), np.sort(np.linalg.eigvals(np.linalg.solve(S, A + A.T)).real)),
    "trnsolver.cholesky": lambda f: same(f(S), np.linalg.cholesky(S)) and same(f(S, True), np.linalg.cholesky(S).T),
    "trnsolver.lu": lambda f: same(np.linalg.multi_dot(f(A)), A),
    "trnsolver.qr": lambda f: same(np.matmul(*f(A)), A),
    "trnsolver.svd": lambda f: same((lambda u, s, vh: u * s @ vh)(*f(A)), A),
    "trnsolver.pinv": lambda f: same(f(A[:, :2]), np.linalg.pinv(A[:, :2])),
    "trnsolver.solve": lambda f: same(A @ f(A, B), B),
    "trnsolver.solve_spd": lambda f: same(S @ f(S, X, True), X),
    "trnsolver.inv_spd": lambda f: same(f(S), np.linalg.inv(S)),
    "trnsolver.inv_sqrt_spd": lambda f: same(f(S) @ S @ f(S), np.eye(4)),
    "trnsolver.inv_sqrt_spd_ns": lambda f: same((lambda x, i, r: x @ S @ x)(*f(S)), np.eye(4)),
    "trnsolver.cg": lambda f: solved(f(LD, ONES, None, 1e-6, 1000)) and solved(f(lambda v: LD @ v, ONES)),
    "trnsolver.gmres": lambda f: solved(f(LD, ONES, None, 1e-6, 400, 30)),
    "trnsolver.jacobi_preconditioner": lambda f: same(f(S)(X), X / S.diagonal()),
    "trnsolver.block_jacobi_preconditioner": lambda f: same(f(S, 2)(X)[:2], np.linalg.solve(S[:2, :2], X[:2])),
    "trnsolver.ssor_preconditioner": lambda f: same(f(S, 1.0)(X), np.linalg.solve(np.tril(S) @ np.diag(1 / S.diagonal()) @ np.triu(S), X)),
    "trnsolver.schur": lambda f: same((lambda t, z: z @ t @ z.T)(*f(A)), A),

    "trnsparse.CSRMatrix": lambda f: same(f(M.data, M.indices, M.indptr, M.shape).to_dense(), D),
    "trnsparse.COOMatrix": lambda f: same(f([1.0, 2.0], [0, 0], [1, 1], (1, 2)).to_dense(), [[0, 3]]),
    "trnsparse.BSRMatrix": lambda f: same(f.from_dense(A, 2).to_dense(), A) and same(f.from_csr(M, 3).to_dense(), D),
    "trnsparse.from_dense": lambda f: same(f(A, 0.5).to_dense(), D),
    "trnsparse.from_scipy": lambda f: same(f(M).to_dense(), D),
    "trnsparse.eye_sparse": lambda f: same(f(3).to_dense(), np.eye(3)),
    "trnsparse.spmv": lambda f: same(f(M, X, 2.0, Y, 3.0), 2 * D @ X + 3 * Y),
    "trnsparse.spmm": lambda f: same(f(M, B, 2.0, C, 3.0), 2 * D @ B + 3 * C),
    "trnsparse.spmv_symmetric": lambda f: same(f(scipy.sparse.csr_matrix(np.triu(S)), X, 2.0, "upper"), 2 * S @ X),
    "trnsparse.bsr_spmm": lambda f: same(f(BSR, B), D @ B),
    "trnsparse.screened_spmm": lambda f: same(f(A, Q**2, B, 1e-10), np.where(OUTER, A, 0) @ B),
    "trnsparse.block_sparse_attention_tiled":
        lambda f: same(f(A, B, C, sparse.BSRMatrix.from_dense(np.ones((4, 4)), 2)), dense_attention(0.5)) and
        same(f(A, B, C, sparse.BSRMatrix.from_dense(np.ones((4, 4)), 2), 0.2), dense_attention(0.2)),
    "trnsparse.sparse_add": lambda f: same(f(M, M, 2.0, 3.0).toarray(), 5 * D),
    "trnsparse.sparse_scale": lambda f: same(f(M, 2.0).toarray(), 2 * D),
    "trnsparse.sparse_transpose": lambda f: same(f(M).toarray(), D.T),
    "trnsparse.nnz_per_row": lambda f: same(f(M), (D != 0).sum(axis=1)),
    "trnsparse.schwarz_bounds": lambda f: same(f(np.array([4.0, -9.0])), [2, 3]),
    "trnsparse.screen_quartets": lambda f: f(Q, 1e-10).kept == OUTER.sum(),
    "trnsparse.density_screen": lambda f: f(Q, np.full(4, 1e-2), 1e-10).kept == (1e-2 * np.outer(Q, Q) > 1e-10).sum(),
    "trnsparse.sparsity_stats": lambda f: f(Q, 1e-10)["significant_quartets"] == OUTER.sum(),
    "trnsparse.cg_bsr": lambda f: solved(f(sparse.BSRMatrix.from_csr(L, 8), ONES)),
    "trnsparse.chebyshev_coeffs": lambda f: same(np.polynomial.chebyshev.chebval(-0.5, f(1.0, 9.0, 60)), 1 / 3),
    "trnsparse.chebyshev_bsr": lambda f: same(LD @ f(L, ONES, 0.3, 8.0, 200), ONES),
    "trnsparse.richardson_bsr": lambda f: same(LD @ f(L, ONES, 0.25, 300), ONES, 1e-6),
    "trnsparse.power_iteration_bsr": lambda f: same(f(L, R.standard_normal(36), 3000, 1e-14)[0], np.linalg.eigvalsh(LD)[-1], 1e-6),
    "trnsparse.jacobi_preconditioner_bsr": lambda f: same(f(L)(ONES), ONES / 4),
    "trnsparse.bsr_diagonal": lambda f: same(f(L), 4 * ONES),

    "trntensor.einsum": lambda f: same(f("ij,jk->ki", A, B), (A @ B).T) and same(f("ij,jk->ik", A, B, alpha=2.0, beta=3.0, c=C), 2 * A @ B + 3 * C),
    "trntensor.multi_einsum": lambda f: same(f(("ij,jk->ik", A, B), ("ij,jk->ik", A, C))[1], A @ C),
    "trntensor.plan_contraction": lambda f: f("ij,jk->ik", A, B).estimated_flops == 128,
    "trntensor.ContractionPlan": lambda f: isinstance(plan := trnsci.tensor.plan_contraction("ij,jk->ik", A, B), f) and same(plan(A, B), A @ B),
    "trntensor.estimate_flops": lambda f: f("ij,jk->ik", A, B) == 128,
    "trntensor.clear_plan_cache": lambda f: f() is None and trnsci.tensor.plan_cache_info().currsize == 0,
    "trntensor.plan_cache_info": lambda f: f().maxsize > 0,
    "trntensor.cp_decompose": lambda f: same(np.einsum("r,ir,jr->ij", *(lambda fs, w: (w, *fs))(*f(np.outer(X, Y), 1))), np.outer(X, Y)),
    "trntensor.cp_reconstruct": lambda f: same(f([A, B], X), np.einsum("r,ir,jr->ij", X, A, B)),
    "trntensor.tucker_decompose": tucker,
    "trntensor.tucker_reconstruct": lambda f: same(f(A, [B, C]), B @ A @ C.T),
    "trntensor.tt_decompose": lambda f: [c.shape for c in f(T, 2)] == [(1, 3, 2), (2, 4, 2), (2, 5, 1)],
    "trntensor.tt_reconstruct": lambda f: same(f([A[None], B[:, :, None]]), A @ B),
    "trntensor.mp2_energy": lambda f: same(f(DF, E_OCC, E_VIR), MP2),
    "trntensor.ao_to_mo_transform": lambda f: same(f(np.stack([A, B]), C[:, :2], C[:, 2:]), np.einsum("pmn,mi,na->pia", np.stack([A, B]), C[:, :2], C[:, 2:])),
    "trntensor.select_precision_for_error": lambda f: f("float32", 512, 1e-2, executor="sim:trn2") == "bf16" and f("float64", 99, 1e-12) == "native",
    "trntensor.to_xla": lambda f: f(X, "sim:trn2").executor.name == "sim:trn2",
    "trntensor.from_xla": lambda f: same(f(trnsci.asarray(X, "sim:trn2")), X),
}


SINGLE = [x.astype(np.float32) for x in (A, B)]
DEVICE = {"executor": "sim:trn2"}


def absent(name):
    """Not in the module, nor promised by it."""
    module = getattr(trnsci, name.split(".")[0].removeprefix("trn"))
    return not hasattr(module, name.split(".")[-1])


def moved(word):
    """The generator's place as a program of the Python suite would set it."""
    g = seeded()
    g.skip(word)
    other = seeded()
    other.position = word
    return g.position == word and g.random() == other.random()


def layer(name):
    """trnsci.torch.nn has it; without torch the import says what is needed."""
    if importlib.util.find_spec("torch"):
        return hasattr(trnsci.torch.nn, name)
    with pytest.raises(ImportError, match="pip install torch"):
        trnsci.torch
    return f"class {name}(Module)" in (ROOT / "python" / "trnsci" / "torch" / "nn.py").read_text()


def refused():
    with pytest.raises(NotImplementedError):
        trnsci.fft.fft(Z, precision="native", **DEVICE)
    return True


def on_device(call, want, family):
    with trnsci.record("sim:trn2") as r:
        y = call()
    return same(y, want, 1e-5) and r.family_of(family) == "device"


def kept_state():
    g = seeded()
    g.random(3)
    state, want = g.state, g.random(4)
    other = trnsci.rand.Generator(1)
    other.state = state
    return same(other.random(4), want)


def threefry():
    return trnsci.rand.Generator(5, algorithm="threefry4x32-20")


def ozaki():
    return trnsci.fft.fft(Z.astype(np.complex64), precision="bf16x6", return_accuracy=True, **DEVICE)[1].mode == "bf16x6"


OTHERWISE = {
    "trnfft.ComplexTensor": lambda: trnsci.fft.fft(X.astype(np.float32)).dtype == np.complex64 and same(np.abs(Z) * np.exp(1j * np.angle(Z)), Z),
    "trnfft.FFTPlan": lambda: same(trnsci.fft.Plan("fft", (4,), np.complex128)(Z), np.fft.fft(Z)) and absent("trnfft.FFTPlan"),
    "trnfft.FFTAlgorithm": lambda: absent("trnfft.FFTAlgorithm") and same(trnsci.fft.Plan("fft", (7,), np.complex128)(np.ones(7) + 0j)[0], 7),
    "trnfft.set_precision": lambda: absent("trnfft.set_precision") and ozaki(),
    "trnfft.get_precision": lambda: absent("trnfft.get_precision") and ozaki(),
    "trnfft.set_ozaki_product_precision_verified": lambda: absent("trnfft.set_ozaki_product_precision_verified") and ozaki(),
    "trnfft.complex_gemm_bf16": lambda: same(trnsci.fft.complex_gemm(SINGLE[0] + 1j * SINGLE[1], SINGLE[1] + 0j, precision="bf16", **DEVICE),
                                             (A + 1j * B) @ B, 3e-2),
    "trnfft.multi_core_fft": lambda: absent("trnfft.multi_core_fft"),
    "trnfft.set_multicore": lambda: absent("trnfft.set_multicore"),
    "trnfft.get_multicore": lambda: absent("trnfft.get_multicore"),
    "trnfft.butterfly_stage_kernel": lambda: absent("trnfft.butterfly_stage_kernel"),
    "trnfft.stockham_radix4": lambda: absent("trnfft.stockham_radix4") and same(trnsci.fft.fft(Z), np.fft.fft(Z)),
    "trnfft.stockham_radix8": lambda: absent("trnfft.stockham_radix8") and same(trnsci.fft.fft(SIGNAL[:64] + 0j), np.fft.fft(SIGNAL[:64])),
    "trnfft.stockham_mixed_radix": lambda: absent("trnfft.stockham_mixed_radix") and same(trnsci.fft.fft(SIGNAL[:96]), np.fft.fft(SIGNAL[:96])),
    "trnfft.nn.ComplexLinear": lambda: layer("ComplexLinear"),
    "trnfft.nn.ComplexConv1d": lambda: layer("ComplexConv1d"),
    "trnfft.nn.ComplexBatchNorm1d": lambda: layer("ComplexBatchNorm1d"),
    "trnfft.nn.ComplexModReLU": lambda: layer("ComplexModReLU"),

    "trnblas.set_backend": lambda: all(absent(f"trn{m}.set_backend") for m in ("fft", "blas", "rand", "solver", "sparse", "tensor")) and hasattr(trnsci, "use"),
    "trnblas.get_backend": lambda: absent("trnblas.get_backend") and trnsci.current_executor().name == "host",
    "trnblas.HAS_NKI": lambda: absent("trnblas.HAS_NKI") and "sim:trn2" in trnsci.Executor.known(),
    "trnblas.NkiFallbackWarning": lambda: absent("trnblas.NkiFallbackWarning") and refused(),
    "trnblas.nki_gemm": lambda: on_device(lambda: trnsci.blas.gemm(1.0, *SINGLE, **DEVICE), A @ B, "blas.gemm"),
    "trnblas.nki_batched_gemm": lambda: on_device(lambda: trnsci.blas.batched_gemm(1.0, SINGLE[0][None], SINGLE[1][None], **DEVICE), (A @ B)[None],
                                                  "blas.gemm_batched"),
    "trnblas.nki_syrk": lambda: on_device(lambda: np.triu(trnsci.blas.syrk(1.0, SINGLE[0], **DEVICE)), np.triu(A @ A.T), "blas.syrk"),
    "trnblas.nki_trsm": lambda: on_device(lambda: trnsci.blas.trsm(1.0, U.astype(np.float32), SINGLE[1], **DEVICE), np.linalg.solve(U, B), "blas.trsm"),
    "trnblas.nki_mp2_energy": lambda: same(trnsci.tensor.mp2_energy(DF, E_OCC, E_VIR), MP2),
    "trnblas.nki_fused_gemm_energy": lambda: same(trnsci.tensor.mp2_energy(DF.astype(np.float32), E_OCC, E_VIR, **DEVICE), MP2, 1e-5),
    "trnblas.nki_batched_pair_energy": lambda: same(trnsci.tensor.mp2_energy(DF, E_OCC, E_VIR), MP2),

    "trnrand.Generator.get_state": kept_state,
    "trnrand.Generator.set_state": kept_state,
    "trnrand.Generator.manual_seed": lambda: trnsci.rand.Generator(9).random() == trnsci.rand.Generator(9).random() != seeded().random(),
    "trnrand.Generator.position": lambda: (g := seeded()).position == 0 and g.raw(6) is not None and g.position == 6,
    "trnrand.Generator.advance": lambda: moved(12),
    "trnrand.Generator.advance_to": lambda: moved(1 << 40),
    "trnrand.Generator.partition_rank": lambda: len({float(trnsci.rand.Generator(5, stream=k).random()) for k in range(8)}) == 8,
    "trnrand.Generator.torch_generator": lambda: not hasattr(seeded(), "torch_generator"),
    # The published known answer: Philox4x32-10 of counter 0 and key 0.
    "trnrand.philox4x32_reference": lambda: trnsci.rand.Generator(0).raw(4).tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8],
    "trnrand.philox_uniform_cpu": lambda: inside(seeded().random(1000), 0, 1),
    "trnrand.threefry4x32_reference": lambda: len(set(threefry().raw(64).tolist()) | set(seeded().raw(64).tolist())) == 128,
    "trnrand.threefry_uniform_cpu": lambda: inside(threefry().random(1000), 0, 1),
    "trnrand.box_muller_cpu": lambda: mean(seeded().normal(size=10000, method="box-muller") ** 2, 1, 0.1),
    "trnrand.set_cores": lambda: absent("trnrand.set_cores"),

    "trntensor.ShardedTensor": lambda: absent("trntensor.ShardedTensor"),
    "trntensor.scatter": lambda: absent("trntensor.scatter"),
    "trntensor.gather": lambda: absent("trntensor.gather"),
    "trntensor.shard_boundaries": lambda: absent("trntensor.shard_boundaries"),
}

# Every public name of the Python suite in the versions that were read: each stands on the page.
SUITE = """
trnfft: fft ifft rfft irfft hfft ihfft fft2 fftn ifftn rfft2 irfft2 rfftn irfftn stft istft ComplexTensor complex_matmul create_plan FFTPlan
 clear_plan_cache FFTAlgorithm set_precision get_precision set_ozaki_product_precision_verified set_backend get_backend HAS_NKI complex_gemm
 complex_linear complex_mask_apply butterfly_stage_kernel set_multicore get_multicore multi_core_fft complex_gemm_bf16 ComplexLinear ComplexConv1d
 ComplexBatchNorm1d ComplexModReLU stockham_radix4 stockham_radix8 stockham_mixed_radix
trnblas: axpy dot nrm2 scal asum iamax gemv symv trmv ger gemm batched_gemm symm syrk trsm trmm nki_gemm nki_batched_gemm nki_syrk nki_trsm
 nki_mp2_energy nki_fused_gemm_energy nki_batched_pair_energy NkiFallbackWarning
trnrand: Generator get_state set_state position advance advance_to new_program manual_seed get_default_generator uniform normal standard_normal
 exponential bernoulli randint randperm truncated_normal gamma chi_squared beta poisson normal_into uniform_into exponential_into sobol halton
 latin_hypercube GeneratorProgram philox4x32_reference philox_uniform_cpu threefry4x32_reference threefry_uniform_cpu box_muller_cpu set_cores
trnsolver: eigh eigh_generalized cholesky lu qr svd pinv solve solve_spd inv_spd inv_sqrt_spd inv_sqrt_spd_ns cg gmres jacobi_preconditioner
 block_jacobi_preconditioner ssor_preconditioner schur
trnsparse: CSRMatrix COOMatrix BSRMatrix from_dense from_scipy eye_sparse spmv spmm spmv_symmetric bsr_spmm screened_spmm
 block_sparse_attention_tiled sparse_add sparse_scale sparse_transpose nnz_per_row schwarz_bounds screen_quartets density_screen sparsity_stats
 cg_bsr chebyshev_coeffs chebyshev_bsr richardson_bsr power_iteration_bsr jacobi_preconditioner_bsr bsr_diagonal
trntensor: einsum multi_einsum plan_contraction ContractionPlan estimate_flops clear_plan_cache plan_cache_info cp_decompose cp_reconstruct
 tucker_decompose tucker_reconstruct tt_decompose tt_reconstruct mp2_energy ao_to_mo_transform to_xla from_xla ShardedTensor scatter gather
 shard_boundaries select_precision_for_error
"""


def test_every_name_of_the_suite_is_on_the_page():
    page = (ROOT / "docs" / "python-names.md").read_text()
    names = re.findall(r"\b(?!trn\w+:)\w+", SUITE.replace(":", " "))
    assert len(names) > 150 and not [n for n in names if not n.startswith("trn") and not re.search(rf"\b{n}\b", page)]


def test_other_forms_and_cases_agree():
    assert [old for old, _ in OTHER_ROWS] == list(OTHERWISE)


@pytest.mark.parametrize("old", OTHERWISE)
def test_other_form(old):
    assert OTHERWISE[old]()


def test_table_and_cases_agree():
    assert [old for old, _ in ROWS] == list(CASES)
    assert all(old.split(".")[0] == "trn" + new.split(".")[0] and old.split(".")[1] == new.split(".")[1] for old, new in ROWS)


@pytest.mark.parametrize("old,new", ROWS, ids=[old for old, _ in ROWS])
def test_name(old, new):
    module, name = new.split(".")
    assert CASES[old](getattr(getattr(trnsci, module), name))


def test_old_precision_words_are_refused():
    for word in ("fast", "kahan", "double", "dd", "ozaki", "bf16_refined"):
        with pytest.raises(ValueError, match="native"):
            trnsci.blas.gemm(1.0, A, B, precision=word)
