"""trnsci.tensor against NumPy's einsum."""
import numpy as np
import pytest

import trnsci
from trnsci import tensor

RNG = np.random.default_rng(2)
CASES = ["ij,jk->ik", "ij,jk->ki", "ij,jk->k", "ij,jk->", "bji,bjk->bik", "ijb,jkb->ikb", "ii->i", "ii", "ij->ji", "abc,cd,de->abe",
         "i,i,i->i", "a,b,c->cab", "...i,i...->...", "ij,ij", "i,j"]


def arrays(text, t=np.float64):
    shapes = [[3 if c != "." else 0 for c in part.replace("...", ".")] for part in text.split("->")[0].split(",")]
    result = []
    for shape in shapes:
        x = RNG.standard_normal([n or 2 for n in shape])
        result.append((x + 1j * x[::-1] if np.dtype(t).kind == "c" else x).astype(t))
    return result


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("t", [np.float32, np.float64, np.complex64, np.complex128])
def test_einsum(text, t):
    given = arrays(text, t)
    want = np.einsum(text, *given)
    y, accuracy = tensor.einsum(text, *given, return_accuracy=True)
    assert y.dtype == t and y.shape == want.shape and accuracy.bound < 1e-4
    np.testing.assert_allclose(y, want, rtol=1e-4 if np.dtype(t).char in "fF" else 1e-12, atol=1e-5 if np.dtype(t).char in "fF" else 1e-13)


def test_other_notations():
    a, b = arrays("ij,jk")
    np.testing.assert_allclose(tensor.einsum(a, [0, 1], b, [1, 2], [2, 0]), np.einsum(a, [0, 1], b, [1, 2], [2, 0]))
    np.testing.assert_allclose(tensor.einsum(a, [5, 2], b, [2, 1]), np.einsum(a, [5, 2], b, [2, 1]))
    np.testing.assert_allclose(tensor.einsum("ij,jk", a, b, alpha=2, beta=3, c=np.ones((3, 3))), 2 * a @ b + 3)
    out = np.empty((3, 3))
    assert tensor.einsum("ij,jk", a, b, out=out) is out
    np.testing.assert_allclose(out, a @ b)
    for axes in [0, 1, ([0], [1]), ((0, 1), (1, 0)), (-1, 0)]:
        np.testing.assert_allclose(tensor.tensordot(a, b, axes), np.tensordot(a, b, axes))
    assert tensor.einsum("i,i", [1, 2], [3, 4]) == 11


def test_out_beside_c():
    """beta c is read before out is written, wherever c lies; operands may not lie in out."""
    one = np.eye(2)
    memory = np.arange(6.0).reshape(3, 2)
    for c, out in [(np.ones((2, 2)), np.empty((2, 2))), (memory[1:].T, memory[1:]), (memory[:2], memory[1:]), (memory[1:], memory[1:])]:
        want = one + 2 * c
        assert tensor.einsum("ij,jk->ik", one, one, beta=2, c=c, out=out) is out
        np.testing.assert_array_equal(out, want)
    before = memory.copy()
    for a, c in [(memory[:2], np.ones((2, 2))), (memory[1:], memory[1:])]:
        with pytest.raises(ValueError, match="out overlaps an operand"):
            tensor.einsum("ij,jk->ik", a, one, beta=1, c=c, out=memory[1:])
    np.testing.assert_array_equal(memory, before)


def test_plan():
    a, b = arrays("ij,jk")
    p = tensor.plan("ij,jk->ki", a, b)
    np.testing.assert_allclose(p(a, b), (a @ b).T)
    np.testing.assert_allclose(p(a.T.copy().T, b), (a @ b).T)
    assert "->" in p.explain() and p.flops == 54 and p.accuracy.bound > 0
    with pytest.raises(ValueError, match="shape"):
        p(a[1:], b)
    with pytest.raises(ValueError, match="2"):
        p(a)


def test_device():
    a, b = arrays("ij,jk", np.float32)
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        y = tensor.einsum("ij,jk->ki", a, b)
    np.testing.assert_allclose(y, (a @ b).T, rtol=1e-5, atol=1e-5)
    assert any(e.kind == "dispatch" and e.family == "device" for e in r.events)
    d = trnsci.asarray(a, "sim:trn2")
    np.testing.assert_array_equal(tensor.transpose(d).numpy(), a.T)


def test_bad_input():
    a = np.ones((2, 3))
    with pytest.raises(ValueError, match="tensor"):
        tensor.einsum("ij,jk->ik", a, a)
    with pytest.raises(ValueError):
        tensor.einsum("ij->iij", a)
    with pytest.raises(ValueError):
        tensor.einsum("i-j", a)
    with pytest.raises(TypeError, match="Python objects"):
        tensor.einsum("i", np.array([None]))


def test_opt_einsum_backend():
    oe = pytest.importorskip("opt_einsum")
    a, b = arrays("ij,jk")
    before = dict(tensor.backend_calls)
    np.testing.assert_allclose(oe.contract("ij,jk,kl->il", a, b, a, backend="trnsci.tensor"), a @ b @ a)
    assert tensor.backend_calls != before
