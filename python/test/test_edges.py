"""Edges: matrices that must not change, ends of streams, empty sums, ranges that overflow, and what is said about wrong arguments."""
import warnings

import numpy as np
import pytest
import scipy.sparse as ss

import trnsci
from trnsci import blas, fft, rand, solver, sparse, tensor

PERIOD = 2**63 - 1


def test_an_immutable_matrix_stays_as_it_is():
    dense = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    m = ss.csr_array(dense)
    c = sparse.CSRMatrix(m.data, m.indices, m.indptr, m.shape)
    outs = [c.to_scipy(), sparse.sparse_scale(m, 1.0), sparse.sparse_add(m, c, 1.0, 0.0), m]
    for out in outs:
        out.indices[:], out.data[:], out.indptr[:] = 500_000_000, np.nan, -7
    coo = c.to_coo()
    for array in (c.values, c.col_indices, c.row_ptrs, coo.values):
        with pytest.raises(ValueError):
            array[0] = 1
        with pytest.raises(ValueError):
            array.flags.writeable = True
    coo.row_indices[0] = coo.col_indices[0] = 1
    assert np.array_equal(c.to_dense(), dense) and np.array_equal(sparse.spmv(c, np.ones(3)), [3, 3])


def test_blocks_are_checked():
    ones = np.ones((2, 2, 2))
    bad = [([0, 50_000_000], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 2], [0, 1, 2]), ([0, 1], [0, 1, 1]), ([0, 1], [1, 1, 2]),
           ([0, 1], [0, 3, 2]), ([0, 1], [0, -1, 2])]
    for columns, rows in bad:
        with pytest.raises(ValueError, match="BSRMatrix"):
            sparse.BSRMatrix(ones, columns, rows, (4, 4), 2)
    for make in (lambda: sparse.BSRMatrix(ones, [0, 1], [0, 1, 2], (4, 4), 0), lambda: sparse.BSRMatrix.from_dense(np.eye(4), 0),
                 lambda: sparse.BSRMatrix.from_csr(sparse.poisson(4), -1)):
        with pytest.raises(ValueError):
            make()
    good = sparse.BSRMatrix(ones, [0, 1], [0, 1, 2], (4, 4), 2)
    assert np.array_equal(sparse.bsr_spmm(good, np.eye(4)), np.kron(np.eye(2), np.ones((2, 2))))
    good.block_col_indices[0] = 7
    with pytest.raises(ValueError, match="block columns"):
        sparse.bsr_spmm(good, np.eye(4))


@pytest.mark.parametrize("kind", [rand.Philox4x32, rand.Threefry4x32])
def test_a_stream_begins_again(kind):
    first = np.random.Generator(kind(5)).random(5000)
    for back in (1, 3, 1000, 1023, 1024, 1025, 2000):
        x = kind(5)
        x.advance(-back)
        assert x.state["state"]["position"] == 2 * (PERIOD - back)
        drawn = np.random.Generator(x).random(3000 + back)
        assert np.array_equal(drawn[back:], first[:3000]) and x.state["state"]["position"] == 2 * 3000
        raw = rand.Generator(5, algorithm=kind._algorithm, position=2 * (PERIOD - back)).random(back)  # without the wrap
        assert np.array_equal(drawn[:back], raw)
    x = kind(5)
    x.advance(2**63 - 2000)
    assert np.isfinite(np.random.Generator(x).random(5000)).all()
    assert kind(5).advance(PERIOD).state == kind(5).state == kind(5).advance(7).advance(-7).state
    assert kind(5).advance(10 * PERIOD + 3).random_raw() == kind(5).advance(3).random_raw()
    x = kind(5).advance(-2)
    x.random_raw(5, output=False)
    assert x.random_raw() == kind(5).advance(3).random_raw()


def test_states_that_cannot_be_drawn_from_are_refused():
    x = rand.Philox4x32(5)
    for name, value in (("position", 1), ("position", 2**64 - 2), ("position", 2**64), ("position", -2), ("stream", 2**48), ("seed", 2**64)):
        state = x.state
        state["state"][name] = value
        with pytest.raises(ValueError):
            x.state = state
    with pytest.raises(ValueError):
        x.jumped(2**48)
    with pytest.raises(ValueError):
        rand.Philox4x32(5, stream=-1)
    assert x.random_raw() == rand.Philox4x32(5).random_raw()


@pytest.mark.parametrize("executor", ["host", "sim:trn2"])
@pytest.mark.parametrize("trans", [False, True, "C"])
def test_gemv_of_nothing(executor, trans):
    y = np.array([1, 2, np.inf, 4, 5], np.float32)
    a, x = np.zeros((0, 5) if trans else (5, 0), np.float32), np.zeros(0, np.float32)
    np.full(5, 7, np.float32)  # what freed memory may hold
    assert np.array_equal(blas.gemv(1, a, x, trans=trans, executor=executor), np.zeros(5))
    assert np.array_equal(blas.gemv(1, a, x, 0, y, trans=trans, executor=executor), np.zeros(5))
    assert np.array_equal(blas.gemv(1, a, x, 1, y, trans=trans, executor=executor), y)
    assert np.array_equal(blas.gemv(1, a, x, -3, y, trans=trans, executor=executor), -3 * y)
    device = [trnsci.asarray(v, executor) for v in (a, x, y)]
    assert np.array_equal(blas.gemv(1, device[0], device[1], 2, device[2], trans).numpy(), 2 * y)
    assert np.array_equal(blas.gemv(1, *device[:2], trans=trans).numpy(), np.zeros(5))
    assert np.array_equal(y, [1, 2, np.inf, 4, 5])


def test_uniform_ranges():
    g = rand.Generator(1)
    for low, high in ((-1e308, 1e308), (0, np.inf), (-np.inf, 0), (np.nan, 1), (0, np.nan)):
        with pytest.raises(OverflowError):
            g.uniform(low, high, 4)
    for low, high in ((0, 1e39), (-3e38, 3e38)):
        with pytest.raises(OverflowError):
            g.uniform(low, high, 4, dtype=np.float32)
    assert np.isfinite(g.uniform(-8e307, 8e307, 100)).all()


def test_a_label_twice_in_one_operand():
    for call in (lambda: tensor.einsum("ii", np.ones((4, 1))), lambda: tensor.einsum("i...i->...", np.ones((4, 2, 1))),
                 lambda: tensor.einsum(np.ones((1, 4)), [0, 0]), lambda: tensor.contract("ii,i", np.ones((4, 1)), np.ones(4)),
                 lambda: tensor.plan("ii->i", (4, 1)), lambda: tensor.einsum("ii", trnsci.asarray(np.ones((4, 1), np.float32), "sim:trn2"))):
        with pytest.raises(ValueError, match="label '?[ai]"):
            call()
    a, b = np.arange(4.0).reshape(4, 1), np.arange(8.0).reshape(4, 2)
    assert np.array_equal(tensor.einsum("ij,ij->i", a, b), np.einsum("ij,ij->i", a, b))
    c = np.arange(18.0).reshape(3, 2, 3)
    assert np.array_equal(tensor.einsum("i...i->...", c), np.einsum("i...i->...", c))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_of_64_bits(dtype):
    limits = np.iinfo(dtype)
    for low, high in ((0, 2**63 - 1), (int(limits.min), int(limits.max)), (5, 6), (10, 10 + 2**40), (3, 10)):
        s = high - low + 1
        g = rand.Generator(3, stream=2)
        words = g.raw((50, 2), 64)
        g.position = 0
        drawn = g.integers(low, high, 50, dtype, endpoint=True)
        assert drawn.dtype == dtype and drawn.tolist() == [low + ((int(w[1]) << 64 | int(w[0])) * s >> 128) for w in words]
        g.position = 0
        assert [int(g.integers(low, high, None, dtype, True)) for _ in range(50)] == drawn.tolist()  # in pieces
        out = np.empty(50, dtype)
        g.position = 0
        assert g.integers(low, high, endpoint=True, out=out) is out and out.tolist() == drawn.tolist()
    assert rand.Generator(1).integers(0, 2**63 - 1).dtype == np.int64 and rand.Generator(1).integers(0, 9).dtype == np.int32
    assert rand.Generator(1).integers(-(2**31), 2**31, 4).dtype == np.int32 and rand.Generator(1).integers(0, 4.0, 100).max() == 3


G = rand.Generator(1)
MESSAGES = {
    "random f2": (lambda: G.random(dtype="f2"), ValueError, "float16"),
    "random i8": (lambda: G.random(dtype="i8"), ValueError, "int64"),
    "integers i1": (lambda: G.integers(0, 5, dtype="i1"), ValueError, "type int8"),
    "integers fraction": (lambda: G.integers(0.5, 3.7), ValueError, "0.5"),
    "integers beyond": (lambda: G.integers(0, 2**40, dtype=np.int32), ValueError, "does not fit int32"),
    "integers none": (lambda: G.integers(5, 5), ValueError, "low = 5 .. high = 5"),
    "integers text": (lambda: G.integers("a"), TypeError, "high is a str"),
    "seed -1": (lambda: rand.Generator(-1), ValueError, "seed is -1"),
    "seed 2**64": (lambda: rand.Generator(2**64), ValueError, "seed is 18446744073709551616"),
    "seed 1.5": (lambda: rand.Generator(1.5), ValueError, "seed is 1.5"),
    "seed text": (lambda: rand.Generator("x"), TypeError, "seed is a str"),
    "position": (lambda: setattr(G, "position", -5), ValueError, "position is -5"),
    "skip": (lambda: G.skip(-1), ValueError, "n is -1"),
    "manual_seed": (lambda: rand.manual_seed(-1), ValueError, "seed is -1"),
    "state": (lambda: setattr(G, "state", 3), TypeError, "a state is"),
    "exponential": (lambda: G.exponential(0.0), ValueError, "scale is 0"),
    "method": (lambda: G.normal(method="x"), ValueError, "method is 'x'"),
    "next_fast_len": (lambda: fft.next_fast_len(2**70), ValueError, "at most"),
    "permute": (lambda: tensor.permute(np.ones((2, 3)), (1, 0)), TypeError, "must be text"),
    "tensordot": (lambda: tensor.tensordot(np.ones((2, 2)), np.ones((2, 2)), ([5], [0])), ValueError, "axes"),
    "transpose": (lambda: tensor.transpose(trnsci.asarray(np.float32(1), "sim:trn2"), (0,)), ValueError, "axes"),
    "no matrix": (lambda: sparse.spmv(3, np.ones(3)), TypeError, "a int is not a sparse matrix"),
    "fftshift": (lambda: fft.fftshift(np.arange(3), 1), ValueError, "axis 1"),
    "fht": (lambda: fft.fht(np.ones(4), 0.0, 1.0), ValueError, "dln"),
    "fhtoffset": (lambda: fft.fhtoffset(0.0, 1.0), ValueError, "dln"),
    "permutation": (lambda: G.permutation(1.5), ValueError, "x is 1.5"),
    "uniform_into": (lambda: rand.uniform_into(0, generator=G), TypeError, "out is a int"),
    "cg": (lambda: solver.cg(np.eye(3), 0.0), ValueError, "right-hand side"),
    "plan": (lambda: tensor.plan(0), TypeError, "must be text"),
    "vstack": (lambda: sparse.vstack([]), ValueError, "at least one"),
    "mmread": (lambda: sparse.mmread("no/such.mtx"), FileNotFoundError, "no/such.mtx"),
    "load_npz": (lambda: sparse.load_npz("no/such.npz"), FileNotFoundError, "no/such.npz"),
    "hb_read": (lambda: sparse.hb_read("no/such.rb"), FileNotFoundError, "no/such.rb"),
    "mmwrite": (lambda: sparse.mmwrite("no/such.mtx", sparse.poisson(3)), FileNotFoundError, "no"),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_one_line_says_what_is_wrong(case):
    call, error, words = MESSAGES[case]
    before = G.state
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value) and "\n" not in str(caught.value) and "incompatible function" not in str(caught.value)
    assert G.state == before


def test_permutation_of_what_counts_as_a_number():
    assert sorted(rand.Generator(1).permutation(np.int64(5))) == [0, 1, 2, 3, 4] and sorted(rand.Generator(1).permutation([7, 8])) == [7, 8]


def test_use_can_be_entered_again():
    here = trnsci.use("sim:trn2")
    with here, trnsci.use("sim:trn1"), here:
        assert trnsci.current_executor().name == "sim:trn2"
    with pytest.raises(KeyError), here:
        raise KeyError
    assert trnsci.current_executor().name == "host"
    with here as executor:
        assert executor.name == trnsci.current_executor().name == "sim:trn2"


@pytest.mark.parametrize("f", [solver.matrix_rank, solver.cond, solver.det, solver.slogdet])
def test_nan_is_told(f):
    with pytest.warns(trnsci.NumericalWarning, match="not finite"):
        f(np.array([[1.0, 2.0], [np.nan, 1.0]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(np.ones((2, 2)))
        f(np.eye(3))
