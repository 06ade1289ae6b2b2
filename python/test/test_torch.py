"""trnsci.torch: values against torch's own, gradients by finite differences (torch.autograd.gradcheck)."""
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import trnsci  # noqa: E402
import trnsci.torch as tt  # noqa: E402

torch.manual_seed(3)


def numbers(*shape, complex=False, dtype=None):
    x = torch.randn(*shape, dtype=dtype or (torch.complex128 if complex else torch.float64))
    return x.requires_grad_()


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("n", [None, 6, 9, 14])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_transforms(name, n, norm):
    kinds = {"fft": (False, True), "ifft": (False, True), "rfft": (False,), "irfft": (True,)}[name]
    for complex in kinds:
        for dim in (-1, 0):
            x = numbers(9, 3, complex=complex) if dim == 0 else numbers(3, 9, complex=complex)
            ours, theirs = getattr(tt, name), getattr(torch.fft, name)
            torch.testing.assert_close(ours(x, n, dim, norm), theirs(x, n, dim, norm))
            w = torch.randn_like(theirs(x, n, dim, norm))
            got, = torch.autograd.grad((ours(x, n, dim, norm) * w).sum().abs(), x)
            want, = torch.autograd.grad((theirs(x, n, dim, norm) * w).sum().abs(), x)
            torch.testing.assert_close(got, want)


def test_gradcheck():
    assert torch.autograd.gradcheck(lambda x: tt.rfft(x, 7), (numbers(2, 8),))
    assert torch.autograd.gradcheck(lambda x: tt.irfft(x, 6), (numbers(2, 5, complex=True),))
    assert torch.autograd.gradcheck(lambda x: tt.fftn(x), (numbers(2, 3, complex=True),))
    assert torch.autograd.gradcheck(lambda x: tt.ifftn(x, (1,), "ortho"), (numbers(2, 3, complex=True),))


@pytest.mark.parametrize("text, shapes", [("ij,jk->ki", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]),
                                          ("i,i->", [(3,), (3,)]), ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 3)]), ("ij->j", [(3, 2)]),
                                          ("...ij,jk->...ik", [(2, 2, 3), (3, 2)])])
@pytest.mark.parametrize("complex", [False, True])
def test_einsum(text, shapes, complex):
    operands = [numbers(*s, complex=complex) for s in shapes]
    torch.testing.assert_close(tt.einsum(text, *operands), torch.einsum(text, *operands))
    assert torch.autograd.gradcheck(lambda *x: tt.einsum(text, *x), operands)


def test_mixed_einsum_and_matmul():
    a, b = numbers(3, 4), numbers(4, 2, complex=True)
    got, want = tt.matmul(a, b), torch.einsum("ij,jk->ik", a.to(b.dtype), b)
    torch.testing.assert_close(got, want)
    got.abs().sum().backward()
    assert a.grad.dtype == torch.float64 and b.grad.dtype == torch.complex128


@pytest.mark.parametrize("complex", [False, True])
def test_spmm(complex):
    import scipy.sparse
    dense = np.random.default_rng(1).standard_normal((5, 4)) * (1 + 2j if complex else 1)
    a = scipy.sparse.csr_array(np.where(abs(dense) > 0.5 * abs(dense).mean(), dense, 0))
    v, b = torch.tensor(a.data, requires_grad=True), numbers(4, 3, complex=complex)
    torch.testing.assert_close(tt.spmm(a, b), torch.tensor(a.toarray()) @ b)
    torch.testing.assert_close(tt.spmm(torch.tensor(a.toarray()).to_sparse_csr(), b), torch.tensor(a.toarray()) @ b)
    assert torch.autograd.gradcheck(lambda v, b: tt.spmm(a, b, v), (v, b))
    with pytest.raises(ValueError):
        tt.spmm(a, b, v[:-1])


def test_attention():
    mask = trnsci.sparse.from_dense(np.tri(8))
    q, k, v = numbers(2, 8, 4), numbers(2, 8, 4), numbers(2, 8, 4)
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=torch.tril(torch.ones(8, 8, dtype=torch.bool)))
    torch.testing.assert_close(tt.attention(q, k, v, mask), want)
    assert torch.autograd.gradcheck(lambda *x: tt.attention(*x, mask), (q, k, v))


def test_on_a_device_and_refusals():
    x = torch.randn(4, 64, requires_grad=True)
    with trnsci.record("sim:trn2") as r:
        tt.rfft(x, executor="sim:trn2").abs().sum().backward()
    want, = torch.autograd.grad(torch.fft.rfft(x).abs().sum(), x)
    torch.testing.assert_close(x.grad, want, atol=1e-4, rtol=1e-4)
    assert r.count("run") == 2  # there and back
    with pytest.raises(TypeError, match="must be a tensor"):
        tt.fft(np.ones(4))
    with pytest.raises(ValueError, match="dense"):
        tt.fft(torch.eye(3).to_sparse())
    with pytest.raises(ValueError, match="norm"):
        tt.fft(x, norm="no")
    shared = torch.from_dlpack(trnsci.asarray(np.arange(3.0)))
    assert shared.tolist() == [0, 1, 2]


def test_layers():
    z = torch.randn(6, 3, 20, dtype=torch.complex64)
    conv = tt.nn.ComplexConv1d(3, 4, 5, stride=2, padding=1)
    real = torch.nn.functional.conv1d(z, conv.weight, conv.bias, stride=2, padding=1)
    torch.testing.assert_close(conv(z), real, atol=1e-5, rtol=1e-4)
    layer = tt.nn.ComplexLinear(20, 7)
    torch.testing.assert_close(layer(z), z @ layer.weight.T + layer.bias, atol=1e-5, rtol=1e-4)
    y = tt.nn.ComplexBatchNorm1d(3)(z)
    torch.testing.assert_close(y.real.mean((0, 2)), torch.zeros(3), atol=1e-5, rtol=0)
    act = tt.nn.ComplexModReLU(3)
    torch.testing.assert_close(act(z), z)
    act.bias.data -= 0.5
    assert (act(z).abs() <= z.abs() + 1e-6).all() and (act(torch.zeros(1, 3, 2, dtype=torch.complex64)) == 0).all()
    target = torch.randn(6, 4, 9, dtype=torch.complex64)
    first = None
    optimiser = torch.optim.Adam(conv.parameters(), lr=0.05)
    for _ in range(30):  # it learns
        optimiser.zero_grad()
        loss = (conv(z) - target).abs().square().mean()
        loss.backward()
        optimiser.step()
        first = loss.item() if first is None else first
    assert loss.item() < 0.9 * first


@pytest.mark.parametrize("module", [tt, tt.nn])
def test_doctests(module):
    import doctest
    assert doctest.testmod(module).failed == 0
