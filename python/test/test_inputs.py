"""What solvers, sparse matrices and contractions do with odd arrays: converted once, or refused with a sentence."""
import threading

import numpy as np
import pytest
import scipy.sparse as ss

import trnsci
from trnsci import solver, sparse, tensor

A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]])
B = np.array([1.0, 2.0, 3.0])
X = np.linalg.solve(A, B)


def unaligned(x):
    raw = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    raw[...] = x
    assert not raw.flags.aligned
    return raw


def record_field(x):
    made = np.zeros(x.shape, [("mark", "u1"), ("value", x.dtype)])
    made["value"] = x
    return made["value"]


FORMS = {"big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")), "unaligned": unaligned, "a field of a record": record_field,
         "reversed": lambda x: x[::-1].copy()[::-1], "Fortran order": np.asfortranarray, "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
         "a list": lambda x: x.tolist(), "read-only": lambda x: np.broadcast_to(x, x.shape)}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_converted(form):
    a, b = FORMS[form](A), FORMS[form](B)
    near = lambda y, want: np.allclose(y, want, rtol=1e-12)
    assert near(solver.solve(a, b), X) and near(solver.cg(a, b, tol=1e-13).x, X) and near(solver.eigvalsh(a), np.linalg.eigvalsh(A))
    assert near(solver.svdvals(a), np.linalg.svd(A, compute_uv=False)) and near(solver.cho_solve((solver.cholesky(a), True), b), X)
    assert near(tensor.contract("ij,j->i", a, b), A @ B) and near(tensor.permute("ij->ji", a), A.T)
    m = sparse.from_dense(a)
    assert near(sparse.spmv(m, b), A @ B) and near(sparse.spsolve(m, b), X) and near(sparse.spsolve_triangular(m, b), np.linalg.solve(np.tril(A), B))
    values = ss.csr_array(A)
    made = sparse.CSRMatrix(FORMS[form](values.data), FORMS[form](values.indices), FORMS[form](values.indptr), (3, 3))
    assert np.array_equal(made.to_dense(), A)


CALLS = [lambda a, b: solver.solve(a, b), lambda a, b: solver.eigh(a), lambda a, b: solver.cg(a, b), lambda a, b: sparse.from_dense(a),
         lambda a, b: sparse.spmv(sparse.poisson(3), b), lambda a, b: tensor.contract("ij,j->i", a, b), lambda a, b: tensor.tucker_decompose(a, (1, 1)),
         lambda a, b: trnsci.fft.stft(b, 2)]


@pytest.mark.parametrize("call", range(len(CALLS)))
@pytest.mark.parametrize("dtype", [np.longdouble, object, "U3"], ids=str)
def test_refused(call, dtype):
    with pytest.raises((TypeError, ValueError)):
        CALLS[call](A.astype(dtype), B.astype(dtype))


def test_integers_become_float64():
    assert solver.inv(np.eye(3, dtype=int)).dtype == np.float64
    assert sparse.spmv(ss.csr_array(np.eye(3, dtype=np.int8)), [1, 2, 3]).dtype == np.float64


def test_mixed_types_are_promoted():
    z = A + 0j
    assert np.allclose(solver.solve(A, B + 1j), np.linalg.solve(A, B + 1j)) and solver.solve(A.astype(np.float32), B).dtype == np.float64
    assert sparse.spmm(ss.csr_array(A), z).dtype == np.complex128 and sparse.sparse_add(ss.csr_array(A), ss.csr_array(z)).dtype == np.complex128
    assert solver.cg(ss.csr_array(A), B + 1j).x.dtype == np.complex128


def test_nothing_crosses_unasked():
    device = trnsci.asarray(A.astype(np.float32), "sim:trn2")
    for call in (lambda: solver.solve(device, A), lambda: tensor.contract("ij,jk->ik", device, A), lambda: sparse.sddmm(device, A, sparse.from_dense(A))):
        with pytest.raises((ValueError, TypeError)):
            call()


def test_threads():
    errors = []

    def work(seed):
        g = np.random.default_rng(seed)
        for _ in range(20):
            a = g.standard_normal((20, 20))
            if not np.allclose(a @ solver.solve(a, np.ones(20)), 1, atol=1e-6):
                errors.append(seed)
            m = sparse.from_dense(a @ a.T + 20 * np.eye(20))
            if solver.cg(m, np.ones(20), tol=1e-10, M=sparse.ic0(m)).residual > 1e-10:
                errors.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
