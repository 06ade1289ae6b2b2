"""scipy.sparse on trnsparse: functions of scipy.sparse._sparsetools replaced by ours, for SciPy's own tests.

They take row-compressed arrays and write into arrays that SciPy made. What no library here has (integers, longdouble, rows that are
not sorted or have duplicates, whose order SciPy keeps) is declined: SciPy's own function runs, and is counted by name.
"""
import numpy as np
import scipy.sparse._sparsetools as tools

import trnsci
from trnsci import sparse

TYPES = "fdFD"


def matrix(rows, columns, ptr, index, values):
    """A CSRMatrix, or None where it would not be the same matrix."""
    ptr, index, values = np.asarray(ptr), np.asarray(index), np.asarray(values)
    if values.dtype.char not in TYPES or len(ptr) != rows + 1 or ptr[0] != 0 or max(rows, columns) > 2**31 - 1:
        return None
    nnz = int(ptr[-1])
    index, values = index[:nnz], values[:nnz]
    if nnz and (index.max() >= columns or index.min() < 0):
        return None
    inner = np.ones(max(nnz - 1, 0), bool)
    starts = np.asarray(ptr[1:-1])
    inner[starts[(starts > 0) & (starts < nnz)] - 1] = False
    if not (np.diff(index)[inner] > 0).all() or (np.diff(ptr) < 0).any():
        return None
    return sparse.CSRMatrix(values, index, ptr, (int(rows), int(columns)))


def same_type(a, *arrays):
    return a is not None and all(np.asarray(x).dtype == a.dtype for x in arrays)


def csr_matvec(m, n, ptr, index, values, x, y):
    a = matrix(m, n, ptr, index, values)
    if not same_type(a, x, y):
        return False
    y += sparse.spmv(a, x)


def csr_matvecs(m, n, k, ptr, index, values, x, y):
    a = matrix(m, n, ptr, index, values)
    if not same_type(a, x, y):
        return False
    y += sparse.spmm(a, np.asarray(x).reshape(n, k)).ravel()


def csc_matvec(m, n, ptr, index, values, x, y):
    a = matrix(n, m, ptr, index, values)
    if not same_type(a, x, y):
        return False
    y += sparse.spmv(a, x, op="T")


def csc_matvecs(m, n, k, ptr, index, values, x, y):
    a = matrix(n, m, ptr, index, values)
    if not same_type(a, x, y):
        return False
    y += sparse.spmm(a, np.asarray(x).reshape(n, k), op="T").ravel()


def put(made, ptr, index, values):
    """The result in SciPy's arrays, if it has room; zeros are left out where SciPy leaves them out."""
    if made.nnz > len(index):
        return False
    ptr[:] = made.row_ptrs
    index[:made.nnz] = made.col_indices
    values[:made.nnz] = made.values


def csr_matmat(m, n, ap, aj, ax, bp, bj, bx, cp, cj, cx):
    inner = len(bp) - 1
    a, b = matrix(m, inner, ap, aj, ax), matrix(inner, n, bp, bj, bx)
    if b is None or not same_type(a, bx, cx):
        return False
    made = sparse.spgemm(a, b)
    return False if made.nnz != len(cj) else put(made, cp, cj, cx)


def csc_matmat(m, n, ap, aj, ax, bp, bj, bx, cp, cj, cx):
    return csr_matmat(n, m, bp, bj, bx, ap, aj, ax, cp, cj, cx)


def transposed(m, n, ap, aj, ax, bp, bi, bx):
    a = matrix(m, n, ap, aj, ax)
    if not same_type(a, bx):
        return False
    return put(sparse.sparse_transpose(a), bp, bi, bx)


def csc_tocsr(m, n, ap, ai, ax, bp, bj, bx):
    return transposed(n, m, ap, ai, ax, bp, bj, bx)


def elementwise(combine):
    def call(m, n, ap, aj, ax, bp, bj, bx, cp, cj, cx):
        a, b = matrix(m, n, ap, aj, ax), matrix(m, n, bp, bj, bx)
        if b is None or not same_type(a, bx, cx):
            return False
        return put(sparse.prune(combine(a, b), 0.0), cp, cj, cx)
    return call


def swapped(call):
    return lambda m, n, *rest: call(n, m, *rest)


def csr_todense(m, n, ptr, index, values, out):
    a = matrix(m, n, ptr, index, values)
    if not same_type(a, out):
        return False
    out += a.to_dense()


def csr_diagonal(k, m, n, ptr, index, values, out):
    a = matrix(m, n, ptr, index, values)
    if k != 0 or not same_type(a, out):
        return False
    out[:] = sparse.diagonal(a)


plus = elementwise(lambda a, b: sparse.sparse_add(a, b))
minus = elementwise(lambda a, b: sparse.sparse_add(a, b, 1.0, -1.0))
times = elementwise(sparse.sparse_multiply)
OURS = {"csr_matvec": csr_matvec, "csr_matvecs": csr_matvecs, "csc_matvec": csc_matvec, "csc_matvecs": csc_matvecs,
        "csr_matmat": csr_matmat, "csc_matmat": csc_matmat, "csr_tocsc": transposed, "csc_tocsr": csc_tocsr, "csr_plus_csr": plus,
        "csr_minus_csr": minus, "csr_elmul_csr": times, "csc_plus_csc": swapped(plus), "csc_minus_csc": swapped(minus),
        "csc_elmul_csc": swapped(times), "csr_todense": csr_todense, "csr_diagonal": csr_diagonal}


def replace(calls, declined):
    def joined(name, ours, theirs):
        def call(*args):
            if ours(*args) is False:
                declined[name] = declined.get(name, 0) + 1
                return theirs(*args)
            calls[name] = calls.get(name, 0) + 1
        return call

    for name in [name for name in OURS if hasattr(tools, name)]:
        ours = OURS[name]
        setattr(tools, name, joined(name, ours, getattr(tools, name)))
    import scipy.sparse._compressed as compressed
    for name in OURS:  # names that this module took by themselves
        if hasattr(compressed, name):
            setattr(compressed, name, getattr(tools, name))


assert trnsci.current_executor().family == "host"
