"""trnsci.sparse against SciPy and NumPy."""
import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as ss
import scipy.sparse.linalg as ssl

import trnsci
from trnsci import sparse as sp

RNG = np.random.default_rng(11)
TYPES = [np.float32, np.float64, np.complex64, np.complex128]


def eps(dtype):
    return np.finfo(dtype).eps


def dense(shape, dtype=np.float64):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def random(m, n, density=0.1, dtype=np.float64, format="csr"):
    a = ss.random(m, n, density, random_state=np.random.RandomState(3))
    a.data = dense(a.nnz, dtype)
    return a.asformat(format)


def near(y, want, factor=40):
    y, want = np.asarray(y), np.asarray(want)
    assert y.shape == want.shape and y.dtype == want.dtype
    assert np.abs(y - want).max(initial=0) <= factor * eps(want.dtype) * max(np.abs(want).max(initial=0), 1e-300)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_products_of_every_format(format, dtype):
    a = random(30, 20, dtype=dtype, format=format)
    x, b = dense(20, dtype), dense((20, 5), dtype)
    near(sp.spmv(a, x), a.toarray() @ x)
    near(sp.spmm(a, b), a.toarray() @ b)
    near(sp.spmm(a, b, 2.0, np.ones((30, 5), dtype), 3.0), (2 * a.toarray() @ b + 3).astype(dtype))
    near(sp.spmv(a, dense(30, dtype) * 0 + 1, op="T"), a.toarray().T @ np.ones(30, dtype))
    near(sp.spmm(a, dense((30, 2), dtype) * 0 + 1, op="C"), a.toarray().conj().T @ np.ones((30, 2), dtype))


BORROWING = {
    "spmv": lambda a, x: sp.spmv(a, x), "spmm": lambda a, x: sp.spmm(a, x[:, None]), "diagonal": lambda a, x: sp.diagonal(a),
    "spsolve_triangular": lambda a, x: sp.spsolve_triangular(a, x, unit_diagonal=True), "nnz_per_row": lambda a, x: sp.nnz_per_row(a),
}


@pytest.mark.parametrize("kind", [ss.csr_array, ss.csr_matrix])
@pytest.mark.parametrize("name", BORROWING)
def test_a_csr_of_scipys_is_used_where_it_lies(name, kind):
    n, a = 500, kind(random(500, 500, 0.4))
    x, entries = dense(n), a.data.nbytes + a.indices.nbytes
    index, data = a.indices.copy(), a.data.copy()
    with trnsci.record("host") as r:
        made = BORROWING[name](a, x)
    # What is allocated is in proportion to the rows; a copy of the entries would be 1.2 MB.
    assert entries > 1_000_000 and r.bytes("allocate") + r.bytes("copy") < 64 * (n + 1)
    assert np.array_equal(a.indices, index) and np.array_equal(a.data, data)
    copied = BORROWING[name](sp.from_scipy(a), x)
    assert np.array_equal(made, copied)
    mixed = kind((a.data[::-1].copy(), a.indices[::-1].copy(), (a.nnz - a.indptr[::-1]).astype(a.indptr.dtype)), shape=a.shape)  # rows are unsorted
    with trnsci.record("host") as r:
        BORROWING[name](mixed, x)
    assert r.bytes("allocate") >= entries  # then there is a copy


def test_borrowed_matrices_are_checked_each_time():
    a = ss.csr_array(random(20, 20))
    x = dense(20)
    near(sp.spmv(a, x), a.toarray() @ x)
    a.indices[3] = 1_000_000
    for call in (lambda: sp.spmv(a, x), lambda: sp.spgemm(a, a), lambda: sp.diagonal(a)):
        with pytest.raises(ValueError, match="column index 1000000"):
            call()


def test_results_do_not_share_what_was_borrowed():
    a = ss.csr_array(random(20, 20))
    for made in (sp.spgemm(a, sp.eye_sparse(20)), sp.sparse_add(a, a, 1.0, 0.0), sp.sparse_multiply(a, a), sp.sparse_scale(a, 1.0), sp.power(a, 1)):
        for ours in (made.data, made.indices, made.indptr):
            assert not any(np.shares_memory(ours, theirs) for theirs in (a.data, a.indices, a.indptr))
    plan = sp.SpmmPlan(a)  # outlives the call, so it has a copy
    want = a.toarray() @ np.ones(20)
    a.indices[:], a.data[:] = 500_000_000, np.nan
    near(plan(np.ones(20)), want)


def test_matrices_go_out_as_they_came():
    a = ss.csr_matrix(random(9, 9))
    assert type(sp.spgemm(a, a)) is ss.csr_matrix
    b = sp.sparse_add(ss.csr_array(a), ss.csr_array(a), 2.0, -1.0)
    assert type(b) is ss.csr_array and b.has_sorted_indices
    near(b.toarray(), a.toarray())
    c = sp.from_scipy(a)
    assert isinstance(sp.sparse_scale(c, 2.0), sp.CSRMatrix)
    out = c.to_scipy()
    assert not any(np.shares_memory(x, y) for x in (out.data, out.indices, out.indptr) for y in (c.values, c.col_indices, c.row_ptrs))
    with pytest.raises(ValueError):
        c.values[0] = 1
    b.data[:] = 0  # a result is the caller's own


def test_csr_values_are_checked_and_kept():
    a = sp.CSRMatrix(np.arange(4.0), [1, 0, 2, 2], [0, 2, 2, 4], (3, 3))  # unsorted, duplicates
    assert np.array_equal(a.to_dense(), [[1, 0, 0], [0, 0, 0], [0, 0, 5]])
    assert (a.nnz, a.shape, a.density) == (3, (3, 3), 3 / 9)
    for bad in [([0, 3], [0, 2], (1, 3)), ([0, -1], [0, 2], (1, 3)), ([0, 1], [0, 3], (1, 3)), ([0, 1], [1, 2], (1, 3))]:
        with pytest.raises(ValueError):
            sp.CSRMatrix(np.ones(2), *bad)
    with pytest.raises(ValueError, match="31 bits"):
        sp.CSRMatrix(np.ones(1), np.array([2**40]), [0, 1], (1, 2**41))
    with pytest.raises(TypeError):
        sp.spmv(np.eye(3), np.ones(3))
    with pytest.raises(ValueError):
        sp.spmv(a, np.ones(4))


def test_block_and_triplet_matrices():
    d = dense((7, 10))
    d[0:3, 3:6] = 0
    b = sp.BSRMatrix.from_dense(d, 3)
    assert b.n_blocks == 11 and b.density == 11 / 12
    near(b.to_dense(), d)
    a = random(7, 10)
    near(sp.BSRMatrix.from_csr(a, 4).to_dense(), a.toarray())
    near(sp.bsr_spmm(b, np.eye(10)), d)
    near(sp.from_scipy(a).to_coo().to_csr().to_dense(), a.toarray())


@pytest.mark.parametrize("dtype", TYPES)
def test_structure_of_matrices(dtype):
    a, b = random(12, 12, 0.2, dtype), random(12, 12, 0.3, dtype)
    d, e = a.toarray(), b.toarray()
    near(sp.spgemm(a, b, 2.0).toarray(), (2 * d @ e).astype(dtype), 100)
    near(sp.power(a, 3).toarray(), d @ d @ d, 400)
    near(sp.sparse_multiply(a, b).toarray(), d * e)
    near(sp.sparse_transpose(a).toarray(), d.T)
    near(sp.sparse_transpose(a, True).toarray(), d.conj().T)
    near(sp.tril(a, -1).toarray(), np.tril(d, -1))
    near(sp.triu(a).toarray(), np.triu(d))
    near(sp.vstack([a, b]).toarray(), np.vstack([d, e]))
    near(sp.hstack([a, b]).toarray(), np.hstack([d, e]))
    near(sp.prune(a, 0.5).toarray(), np.where(np.abs(d) > 0.5, d, 0))
    near(sp.diagonal(a), d.diagonal())
    order = RNG.permutation(12)
    near(sp.permute(a, order).toarray(), d[np.ix_(order, order)])
    assert np.array_equal(sp.nnz_per_row(a), (d != 0).sum(axis=1))
    assert sp.structure(ss.csr_array(d + d.conj().T))["hermitian"]
    near(sp.eye_sparse(4, dtype).to_dense(), np.eye(4, dtype=dtype))


def test_symmetric_product_reads_one_triangle():
    d = dense((6, 6))
    x = dense(6)
    full = np.triu(d) + np.triu(d, 1).T
    near(sp.spmv_symmetric(ss.csr_array(d), x), full @ x)
    lower = np.tril(d) + np.tril(d, -1).T
    near(sp.spmv_symmetric(ss.csr_array(d), x, 2.0, "lower"), 2 * lower @ x)


@pytest.mark.parametrize("dtype", TYPES)
def test_sampled_product(dtype):
    s, a, b = random(15, 11, 0.3, dtype), dense((15, 6), dtype), dense((6, 11), dtype)
    near(sp.sddmm(a, b, s, 2.0, 3.0).toarray(), np.where(s.toarray() != 0, 2 * a @ b + 3 * s.toarray(), 0).astype(dtype), 100)


@pytest.mark.parametrize("dtype", TYPES)
def test_triangular_solves(dtype):
    a = random(20, 20, 0.2, dtype) + 5 * ss.eye(20, dtype=dtype, format="csr")
    b = dense((20, 3), dtype)
    for lower in (True, False):
        t = np.tril(a.toarray()) if lower else np.triu(a.toarray())
        near(sp.spsolve_triangular(a, b, lower), np.linalg.solve(t, b), 1000)
        near(sp.spsolve_triangular(a, b, lower, op="C"), np.linalg.solve(t.conj().T, b), 1000)
    a = a.tolil()
    a[4, 4] = 0
    x, outcome = sp.spsolve_triangular(a, b, return_accuracy=True)
    assert outcome.status == "zero pivot" and outcome.index == 4 and np.isnan(x).all()
    with pytest.warns(trnsci.NumericalWarning, match="zero pivot at 4"):
        sp.spsolve_triangular(a, b)


def test_batches_of_banded_systems():
    import scipy.linalg

    n, count = 12, 5
    five = [dense((n, count)) for _ in range(5)]
    b = dense((n, count))
    for diagonals, width in ((five[1:4], 1), (five, 2)):
        x = sp.solve_banded_batch(diagonals, b)
        for k in range(count):
            ab = np.zeros((2 * width + 1, n))
            for i, d in enumerate(diagonals):  # offset i - width; SciPy's row is width - offset
                offset = i - width
                row = 2 * width - i
                if offset < 0:
                    ab[row, :offset] = d[-offset:, k]
                else:
                    ab[row, offset:] = d[:n - offset, k]
            want = scipy.linalg.solve_banded((width, width), ab, b[:, k])
            assert np.linalg.norm(x[:, k] - want) <= 1e-9 * np.linalg.norm(want)


@pytest.mark.parametrize("dtype", TYPES)
def test_direct_solvers(dtype):
    a = random(60, 60, 0.05, dtype) + 4 * ss.eye(60, dtype=dtype, format="csr")
    b = dense((60, 2), dtype)
    want = np.linalg.solve(a.toarray(), b)
    near(sp.spsolve(a, b), want, 1000)
    near(sp.splu(a).solve(b[:, 0]), want[:, 0], 1000)
    near(sp.factorized(a)(b), want, 1000)
    h = (a @ a.conj().T).tocsr()
    f = sp.spcholesky(h)
    x, solved = f.solve(b, return_accuracy=True)
    assert solved.outcome.ok and solved.componentwise < 100 * eps(dtype)
    near(x, np.linalg.solve(h.toarray(), b), 1e5)
    assert abs(f.log_determinant() - np.linalg.slogdet(h.toarray())[1]) < 1e4 * eps(dtype)
    low, order = f.triangle()
    near((low @ low.to_dense().conj().T), h.toarray()[np.ix_(order, order)], 400)
    near(f.refactor(2 * h).solve(b), np.linalg.solve(h.toarray(), b) / 2, 1e5)
    assert f.report["entries"] >= 60 and f.shape == (60, 60)
    tall = random(50, 20, 0.3, dtype)
    near(sp.spqr(tall).solve(b[:50]), np.linalg.lstsq(tall.toarray(), b[:50], rcond=None)[0], 1e4)


def test_failed_factorisations_are_results():
    f = sp.spcholesky(ss.csr_array(np.diag([1.0, -1.0, 2.0])))
    assert f.outcome.status == "not positive" and f.outcome.index == 1
    x, solved = f.solve(np.ones(3), return_accuracy=True)
    assert np.isnan(x).all() and not solved.outcome.ok
    f = sp.splu(ss.csr_array(np.array([[1.0, 2.0], [2.0, 4.0]])))
    assert f.outcome.status == "singular"
    with pytest.raises(ValueError, match="ordering"):
        sp.splu(ss.eye(3), ordering="alphabetical")


@pytest.mark.parametrize("dtype", TYPES)
def test_preconditioners(dtype):
    a = sp.poisson(12, 12)
    m = ss.csr_array(a.to_scipy().astype(dtype))
    x = dense(144, dtype)
    d = m.toarray()
    near(sp.jacobi(m)(x), x / d.diagonal())
    blocks = np.concatenate([np.linalg.solve(d[i:i + 16, i:i + 16], x[i:i + 16]) for i in range(0, 144, 16)])
    near(sp.block_jacobi(m, 16)(x), blocks, 400)
    ident = np.eye(144, dtype=dtype)
    for op in (sp.ilu(m), sp.ilut(m, 1e-2, 20), sp.ic0(m), sp.ssor(m), sp.chebyshev(m), sp.amg(m, coarsest=20)):
        p = op @ ident
        assert p.dtype == dtype and op.shape == (144, 144) and op.outcome is None or op.outcome.ok
        w = np.linalg.eigvals(d @ p)
        assert w.real.min() > 0 and np.abs(w).max() / np.abs(w).min() < np.linalg.cond(d) / 3
        if op.kind in ("ic0", "ssor", "amg", "chebyshev"):
            assert np.abs(p - p.conj().T).max() < 200 * eps(dtype) * np.abs(p).max()
    exact = sp.ilu(ss.csr_array(np.tril(np.triu(d, -1), 1)))  # tridiagonal: nothing is dropped
    near(exact(x), np.linalg.solve(np.tril(np.triu(d, -1), 1), x), 400)
    near(exact.rmatvec(x), np.linalg.solve(np.tril(np.triu(d, -1), 1).T, x), 400)
    spai = sp.approximate_inverse(m).toarray()
    assert np.linalg.norm(ident - d @ spai) < np.linalg.norm(ident - d / d[0, 0])
    z = sp.ilu(ss.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])))
    assert z.outcome.status == "zero pivot" and np.isnan(z(np.ones(2))).all()


def test_orderings():
    a = sp.poisson(15, 15)
    natural = np.arange(225)
    shuffled = sp.permute(a, RNG.permutation(225))
    rcm = sp.reverse_cuthill_mckee(shuffled)
    band = sp.structure(sp.permute(shuffled, rcm))
    assert sorted(rcm) == list(natural) and band["upper_bandwidth"] <= 20
    for order in (sp.minimum_degree(shuffled), sp.nested_dissection(shuffled)):
        assert sorted(order) == list(natural)
        assert sp.cholesky_entries(shuffled, order) < sp.cholesky_entries(a, natural)
    l = sp.spcholesky(a, ordering="none").triangle()[0]
    assert sp.cholesky_entries(a, natural) == np.count_nonzero(np.linalg.cholesky(a.to_dense())) <= l.nnz  # fronts hold zeros too
    colour = sp.colouring(a)
    rows, columns = a.to_scipy().nonzero()
    assert all(colour[i] != colour[j] for i, j in zip(rows, columns) if i != j) and colour.max() == 1
    assert sorted(sp.partition(a, 50)) == list(natural)


def test_screening_keeps_every_quartet():
    q = sp.schwarz_bounds(10.0 ** -RNG.integers(0, 24, 30).astype(float))
    kept = sp.screen_quartets(q, 1e-9)
    assert np.array_equal(kept.counts, (np.outer(q, q) > 1e-9).sum(axis=1)) and kept.kept == (np.outer(q, q) > 1e-9).sum()
    p = RNG.uniform(0, 1, 30)
    assert sp.density_screen(q, p, 1e-9).kept == (np.outer(q, q * p) > 1e-9).sum()
    stats = sp.sparsity_stats(q, 1e-9)
    assert stats["significant_quartets"] == kept.kept and stats["n_quartets"] == 900
    a, b = dense((30, 30)), dense((30, 4))
    near(sp.screened_spmm(a, q**2, b, 1e-9), np.where(np.outer(q, q) > 1e-9, a, 0) @ b)


def softmax_attention(q, k, v, allowed, scale):
    s = np.where(allowed, scale * q @ k.T, -np.inf)
    p = np.exp(s - s.max(axis=1, keepdims=True, initial=-1e300))
    p = np.where(allowed, p, 0)
    total = p.sum(axis=1, keepdims=True)
    return np.divide(p, total, out=np.zeros_like(p), where=total > 0) @ v


def test_attention_forward_and_backward():
    q, k, v = dense((40, 8)), dense((50, 8)), dense((50, 6))
    allowed = RNG.uniform(size=(40, 50)) < 0.3
    allowed[7] = False
    o, sums = sp.attention(q, k, v, allowed, return_log_sums=True)
    near(o, softmax_attention(q, k, v, allowed, 8**-0.5), 200)
    assert sums[7] == np.inf
    bsr = sp.BSRMatrix.from_dense(np.kron(np.tril(np.ones((4, 5))), np.ones((10, 10))), 10)
    near(sp.block_sparse_attention_tiled(q, k, v, bsr, 0.3), softmax_attention(q, k, v, bsr.to_dense() != 0, 0.3), 200)
    d_o = dense((40, 6))
    gradients = sp.attention_backward(q, k, v, o, sums, d_o, allowed)
    for which, (x, gradient) in enumerate(zip((q, k, v), gradients)):
        direction = dense(x.shape)
        def f(t):
            moved = [q, k, v]
            moved[which] = x + t * direction
            return (d_o * softmax_attention(*moved, allowed, 8**-0.5)).sum()
        h = 1e-5
        assert abs((f(h) - f(-h)) / (2 * h) - (gradient * direction).sum()) < 1e-7
    heads = sp.attention(np.stack([q, q]), k[None], v[None], sp.attention_mask("full", queries=40, keys=50))
    near(heads[0], softmax_attention(q, k, v, np.ones((40, 50), bool), 8**-0.5), 200)


def test_files(tmp_path):
    a = random(8, 6, 0.3)
    sp.mmwrite(tmp_path / "a.mtx", a, "a comment")
    assert np.array_equal(scipy.io.mmread(str(tmp_path / "a.mtx")).toarray(), a.toarray())
    z = random(8, 6, 0.3, np.complex128)
    scipy.io.mmwrite(str(tmp_path / "z.mtx"), z, precision=17)
    near(sp.mmread(tmp_path / "z.mtx").to_dense(), z.toarray(), 1)
    sp.save_npz(tmp_path / "a.npz", a)
    assert np.array_equal(ss.load_npz(tmp_path / "a.npz").toarray(), a.toarray())
    ss.save_npz(tmp_path / "b.npz", a.tocsc())
    assert np.array_equal(sp.load_npz(tmp_path / "b.npz").to_dense(), a.toarray())
    sp.hb_write(tmp_path / "a.rb", a)
    near(sp.hb_read(tmp_path / "a.rb").to_dense(), a.toarray(), 1)
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n")
    with pytest.raises(ValueError):
        sp.mmread(tmp_path / "bad.mtx")
    assert sp.elasticity(3, 2).shape[0] == sp.elasticity(3, 2).shape[1]


def test_on_a_device():
    a = random(200, 200, 0.05, np.float32)
    b = dense((200, 32), np.float32)
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        y, accuracy = sp.spmm(a, b, return_accuracy=True)
    assert r.family_of("sparse.spmm") == "device" or r.count("run") > 0
    exact = a.toarray().astype(float) @ b.astype(float)
    assert (np.abs(y - exact) <= accuracy.bound * (np.abs(a.toarray()).astype(float) @ np.abs(b).astype(float))).all()
    device = trnsci.asarray(b, "sim:trn2")
    assert np.array_equal(sp.spmm(a, device).numpy(), y)
    plan = sp.SpmmPlan(a, columns=32, executor="sim:trn2")
    assert plan.report["tiles"] > 0 and plan.report["modelled_seconds"] > 0
    s = sp.sddmm(b @ np.ones((32, 8), np.float32), np.ones((8, 200), np.float32), a, executor="sim:trn2")
    assert s.nnz == a.nnz
    with pytest.raises(NotImplementedError):
        sp.spmm(a.astype(np.float64), b.astype(np.float64), executor="sim:trn2")


def test_names_of_iterations():
    a = sp.BSRMatrix.from_csr(sp.poisson(8, 8), 16)
    b = np.ones(64)
    want = ssl.spsolve(a.to_csr().to_scipy().tocsc(), b)
    x, iterations, residual = sp.cg_bsr(a, b, tol=1e-12, M=sp.jacobi_preconditioner_bsr(a))
    assert np.allclose(x, want, rtol=1e-9) and iterations > 1 and residual <= 1e-12
    w = np.linalg.eigvalsh(a.to_dense())
    assert np.allclose(sp.chebyshev_bsr(a, b, w[0], w[-1], 200), want, rtol=1e-6)
    assert np.allclose(sp.richardson_bsr(a, b, 2 / (w[0] + w[-1]), 800), want, rtol=1e-6)
    value, vector, steps = sp.power_iteration_bsr(a, RNG.standard_normal(64), 5000, 1e-13)
    assert abs(value - w[-1]) < 1e-6 and np.linalg.norm(a.to_dense() @ vector - value * vector) < 1e-2
    near(sp.bsr_diagonal(a), np.full(64, 4.0))


@pytest.mark.parametrize("make", [sp.ic0, sp.ilu, sp.amg, sp.ssor], ids=lambda f: f.__name__)
def test_preconditioners_are_linear_operators_of_scipys(make):
    a = sp.poisson(20, 20)
    s, b = a.to_scipy(), np.ones(400)
    operator = ssl.aslinearoperator(make(a))
    assert operator.shape == (400, 400) and operator.dtype == np.float64
    near(operator.matvec(b), make(a)(b))
    near(operator.rmatvec(b), make(a).rmatvec(b))
    steps = {"with": 0, "without": 0}

    def count(name):
        def one(x):
            steps[name] += 1
        return one
    x, info = ssl.cg(s, b, M=make(a), atol=0, callback=count("with"))
    ssl.cg(s, b, atol=0, callback=count("without"))
    assert info == 0 and np.linalg.norm(s @ x - b) < 1e-4 * np.linalg.norm(b) and steps["with"] < 0.8 * steps["without"]
