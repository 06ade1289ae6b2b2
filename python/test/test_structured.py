"""Low-rank blocks, block-sparse tensors, convolutions, and the draws of a GeneratorProgram."""
import numpy as np
import pytest

import trnsci
from trnsci import fft, rand, solver, sparse, tensor

R = np.random.default_rng(9)
POINTS = np.sort(R.random(300))
KERNEL = 1 / (0.01 + np.abs(POINTS[:, None] - POINTS)) + 500 * np.eye(300)


@pytest.mark.parametrize("make", [sparse.blr, sparse.hodlr])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_low_rank_blocks(make, dtype):
    a = (KERNEL * (1 + 0.5j if np.dtype(dtype).kind == "c" else 1)).astype(dtype)
    tolerance = 1e-4 if np.dtype(dtype).char in "fF" else 1e-9
    m = make(a, tolerance=tolerance, tile=32)
    dense = m @ np.eye(300, dtype=dtype)
    assert 0 < m.report["stored"] < a.size and m.shape == (300, 300) and m.dtype == dtype
    assert np.linalg.norm(dense - a) <= m.error * (1 + 1e-3) + 1e-3 * tolerance * np.linalg.norm(a) and m.error <= tolerance * np.linalg.norm(a)
    x = R.standard_normal(300).astype(dtype)
    assert np.linalg.norm(m.rmatvec(x) - a.conj().T @ x) <= 2 * tolerance * np.linalg.norm(a) * np.linalg.norm(x)
    f = m.factor()
    solved = f.solve(x)
    assert f.outcome.ok and f.stored > 0
    assert np.linalg.norm(x - a @ solved.x) <= solved.residual_bound * (1 + 1e-3) + 1e-4 * tolerance * np.linalg.norm(a) * np.linalg.norm(solved.x)
    y, iterations, _ = solver.gmres(a, x, tol=1e-5, M=f.operator())
    assert iterations < 10 and np.linalg.norm(x - a @ y) < 1e-4 * np.linalg.norm(x)


def test_low_rank_blocks_on_a_device_and_refusals():
    m = sparse.hodlr(KERNEL.astype(np.float32), tolerance=1e-4, tile=64)
    x = R.standard_normal((300, 4)).astype(np.float32)
    with trnsci.record("sim:trn2") as r:
        y = m.to("sim:trn2") @ x
    assert np.allclose(y, m @ x, rtol=1e-3, atol=1e-2) and r.count("run") > 0
    f = sparse.blr(np.eye(200), tile=50).factor("cholesky")
    np.testing.assert_allclose(f.solve(np.ones((200, 2))).x, 1)
    with pytest.warns(trnsci.NumericalWarning):
        sparse.blr(-np.eye(200), tile=50).factor("cholesky").solve(np.ones(200))
    with pytest.raises(ValueError, match="shape is needed"):
        sparse.blr(lambda i, j: i - j)
    with pytest.raises(ValueError, match="'lu' or 'cholesky'"):
        m.factor("qr")
    with pytest.raises(ValueError):
        sparse.hodlr(np.ones((3, 4)))
    with pytest.raises(ValueError, match="tolerance"):
        sparse.blr(np.eye(4), tolerance=2.0)


def blocks(sections, share, dtype):
    made = {}
    for at in np.ndindex(*(len(s) for s in sections)):
        if R.random() < share:
            block = R.standard_normal([s[i] for s, i in zip(sections, at)])
            made[at] = (block + 1j * R.standard_normal(block.shape) if np.dtype(dtype).kind == "c" else block).astype(dtype)
    return tensor.BlockSparse(sections, made)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("text, sections", [("ij,jk->ki", ([[2, 3], [4, 1, 2]], [[4, 1, 2], [3, 3]])),
                                            ("ijk,lk->lij", ([[2, 1], [1, 3], [2, 2, 5]], [[4, 2], [2, 2, 5]])),
                                            ("ij,ij->", ([[2, 3], [4, 1]], [[2, 3], [4, 1]]))])
def test_block_contraction(text, sections, dtype):
    a, b = (blocks(s, 0.6, dtype) for s in sections)
    made, accuracy = tensor.block_contract(text, a, b, return_accuracy=True)
    want = np.einsum(text, a.to_dense().astype(np.complex128), b.to_dense().astype(np.complex128))
    size = np.einsum(text, abs(a.to_dense()).astype(float), abs(b.to_dense()).astype(float))
    assert made.dtype == dtype and (np.abs(made.to_dense() - want) <= accuracy.bound * size + 1e-300).all()


def test_block_contraction_on_a_device_and_refusals():
    a, b = blocks([[20, 30], [40, 10]], 1.0, np.float32), blocks([[40, 10], [8]], 1.0, np.float32)
    with trnsci.record("sim:trn2") as r:
        made = tensor.block_contract("ij,jk->ik", a, b, executor="sim:trn2")
    np.testing.assert_allclose(made.to_dense(), a.to_dense() @ b.to_dense(), rtol=1e-4, atol=1e-4)
    assert r.count("run") == 1
    there = [tensor.BlockSparse(t.sections, {k: trnsci.asarray(v, "sim:trn2") for k, v in t.blocks.items()}) for t in (a, b)]
    stay = tensor.block_contract("ij,jk->ik", *there)
    assert all(isinstance(x, trnsci.Array) for x in stay.blocks.values()) and (stay.to_dense() == made.to_dense()).all()
    with pytest.raises(ValueError, match="sections have"):
        tensor.BlockSparse([[2], [3]], {(0, 0): np.ones((3, 2))})
    with pytest.raises(ValueError, match="is not one of"):
        tensor.BlockSparse([[2], [3]], {(0, 1): np.ones((2, 3))})
    with pytest.raises(ValueError, match="agree"):
        tensor.block_contract("ij,jk->ik", a, a)
    with pytest.raises(TypeError, match="BlockSparse"):
        tensor.block_contract("ij,jk->ik", a, np.ones((50, 8)))


@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "oaconvolve"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_convolution(name, mode, dtype):
    import scipy.signal
    a, b = R.standard_normal((7, 40)), R.standard_normal((3, 9))
    if np.dtype(dtype).kind == "c":
        a, b = a + 1j * a[::-1], b - 2j * b
    a, b = a.astype(dtype), b.astype(dtype)
    want = getattr(scipy.signal, name)(a, b, mode)
    got = getattr(fft, name)(a, b, mode)
    assert got.shape == want.shape and got.dtype == dtype
    np.testing.assert_allclose(got, want, atol=2e-5 if dtype == np.float32 else 1e-12)


def test_convolution_on_a_device_and_refusals():
    a, b = R.standard_normal(500).astype(np.float32), R.standard_normal(30).astype(np.float32)
    with trnsci.record("sim:trn2") as r:
        y = fft.convolve(a, b, executor="sim:trn2")
    np.testing.assert_allclose(y, np.convolve(a, b), atol=1e-4)
    assert r.count("run") > 0
    with pytest.raises(ValueError, match="full, same, valid"):
        fft.convolve(a, b, "wrap")
    with pytest.raises(ValueError, match="auto, direct, fft"):
        fft.convolve(a, b, method="both")


def test_generator_program():
    def program():
        return rand.Generator(3).new_program().normal(5, 2.0, 0.5, "a").uniform(6, -1.0, 3.0, "b").exponential(7, 4.0, "c").build()
    buffers = {"a": np.empty(5, np.float32), "b": np.empty((2, 3)), "c": np.empty(7, np.float32)}
    one = program()
    one.stream_into(buffers)
    g = rand.Generator(3)
    np.testing.assert_array_equal(buffers["a"], g.normal(2.0, 0.5, 5, dtype=np.float32))
    np.testing.assert_array_equal(buffers["b"], g.uniform(-1.0, 3.0, (2, 3)))
    np.testing.assert_array_equal(buffers["c"], g.exponential(0.25, 7, dtype=np.float32))
    one.stream_into(buffers)  # goes on in the stream
    np.testing.assert_array_equal(buffers["a"], g.normal(2.0, 0.5, 5, dtype=np.float32))
    with pytest.raises(ValueError, match="built"):
        one.normal(3)
    with pytest.raises(ValueError, match="two draws"):
        rand.Generator(3).new_program().normal(5).normal(5)
    with pytest.raises(ValueError, match="no buffer"):
        program().stream_into({"a": np.empty(5)})
    with pytest.raises(ValueError, match="4 elements"):
        program().stream_into({**buffers, "a": np.empty(4)})
    x = np.empty(1000, np.float32)
    rand.uniform_into(x, 2.0, 3.0, rand.Generator(1))
    assert x.min() >= 2 and x.max() <= 3 and (x == rand.Generator(1).uniform(2.0, 3.0, 1000, dtype=np.float32)).all()
    with pytest.raises(NotImplementedError, match="scale them"):
        rand.uniform_into(trnsci.asarray(x, "sim:trn2"), 2.0, 3.0)
