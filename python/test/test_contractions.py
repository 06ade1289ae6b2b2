"""Contractions, plans, paths and decompositions of trnsci.tensor against NumPy."""
import numpy as np
import pytest

import trnsci
from trnsci import tensor as tt

RNG = np.random.default_rng(5)
TYPES = [np.float32, np.float64, np.complex64, np.complex128]


def dense(*shape, dtype=np.float64):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def near(y, want, factor=60):
    assert y.shape == want.shape and y.dtype == want.dtype
    assert np.abs(y - want).max(initial=0) <= factor * np.finfo(want.dtype).eps * max(np.abs(want).max(initial=0), 1)


CASES = [("ij,jk->ik", (3, 4), (4, 5)), ("ij,jk->ki", (3, 4), (4, 5)), ("ij,jk->k", (3, 4), (4, 5)), ("ij,jk->", (3, 4), (4, 5)),
         ("bji,bjk->bik", (2, 4, 3), (2, 4, 5)), ("ijb,jkb->ikb", (3, 4, 2), (4, 5, 2)), ("ii->i", (4, 4)), ("ijk->kj", (2, 3, 4)),
         ("i,j,k->ijk", (2,), (3,), (4,)), ("ab,bc,cd,da->", (3, 4), (4, 5), (5, 2), (2, 3)), ("...ij,...jk", (2, 3, 4), (2, 4, 5)),
         ("mhkn,ukvh->munv", (4, 3, 5, 2), (3, 5, 4, 3))]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("case", CASES)
def test_contract(case, dtype):
    text, *shapes = case
    x = [dense(*s, dtype=dtype) for s in shapes]
    want = np.asarray(np.einsum(text, *x), dtype=dtype)
    y, accuracy = tt.contract(text, *x, return_accuracy=True)
    near(y, want)
    exact = np.einsum(text, *[a.astype(np.complex128) for a in x])
    size = np.einsum(text, *[np.abs(a).astype(float) for a in x])
    assert (np.abs(y - exact) <= accuracy.bound * size + 1e-15 * size).all()
    near(tt.contract(text, *x, optimize="greedy"), want)
    near(np.asarray(tt.einsum(text, *x)), want)


def test_contract_options():
    a, b, c = dense(3, 4), dense(4, 5), dense(3, 5)
    near(tt.contract("ij,jk->ik", a, b, alpha=2, beta=-1, c=c), 2 * a @ b - c)
    near(tt.contract(a, [0, 1], b, [1, 2], [2, 0]), (a @ b).T)
    near(tt.contract("ij,jk", a.tolist(), b.T.copy().T), a @ b)
    near(tt.contract("ij,jk->ik", np.arange(12).reshape(3, 4), np.arange(20).reshape(4, 5)), (np.arange(12).reshape(3, 4) @ np.arange(20).reshape(4, 5)).astype(float))
    assert tt.contract("ij,jk->ik", a, b, dtype=np.float32).dtype == np.float32
    (y, bounds), _ = tt.contract("ij,jk->ik", a.astype(np.float32), b.astype(np.float32), componentwise=True, return_accuracy=True)
    assert (np.abs(y - a.astype(np.float32).astype(float) @ b.astype(np.float32).astype(float)) <= bounds).all()
    near(tt.multi_einsum(("ij,jk->ik", a, b), ("ij->ji", a))[1], a.T)
    big = [dense(6, 6, 6) for _ in range(3)]
    near(tt.contract("abc,cde,efa->bdf", *big, memory_limit=6**3 * 8 * 2), np.einsum("abc,cde,efa->bdf", *big))
    for bad in [("ij,jk->il", a, b), ("ij,jk", a, a), ("ij,jk->ik", a)]:
        with pytest.raises(ValueError):
            tt.contract(*bad)
    with pytest.raises(ValueError, match="beta"):
        tt.contract("ij,jk->ik", a, b, beta=1)
    with pytest.raises(ValueError, match="beside"):
        tt.contract("ij,jk->ik", trnsci.asarray(a, "host"), b)
    with pytest.raises(TypeError):
        tt.contract("ij->ji", a.astype(np.longdouble))


def test_gradients():
    x = [dense(3, 4), dense(4, 5), dense(5, 2)]
    w = dense(3, 2)
    text = "ij,jk,kl->il"
    for i in range(3):
        direction = dense(*x[i].shape)
        moved = [list(x), list(x)]
        moved[0][i], moved[1][i] = x[i] + direction, x[i] - direction  # linear in each operand: differences are exact
        slope = ((np.einsum(text, *moved[0]) - np.einsum(text, *moved[1])) / 2 * w).sum()
        gradient = tt.einsum_gradient(text, *x, adjoint=w, argument=i)
        assert abs((gradient * direction).sum() - slope) < 1e-12 * max(1, abs(slope))


def test_plans_and_paths():
    shapes = [(2, 100), (100, 3), (3, 50)]
    x = [dense(*s) for s in shapes]
    plan = tt.plan_contraction("ij,jk,kl->il", *x)
    assert plan.estimated_flops == 2 * (2 * 100 * 3 + 2 * 3 * 50) and plan.strategy == "path" and len(str(plan).splitlines()) >= 2
    near(plan(*x), x[0] @ x[1] @ x[2])
    assert tt.estimate_flops("ij,jk->ik", x[0], x[1]) == 1200
    assert tt.contract_path("ij,jk,kl->il", *x).path == [(0, 1), (0, 1)]
    path, flops, largest, method = tt.contract_path("ab,bc,cd,de->ae", (50, 2), (2, 50), (50, 2), (2, 50), shapes=True, optimize="dp")
    assert flops == 2 * (2 * 50 * 2 + 2 * 2 * 50 + 50 * 2 * 50) and largest == 2500
    tt.clear_plan_cache()
    tt.contract("ij,jk,kl->il", *x)
    tt.contract("ij,jk,kl->il", *x)
    info = tt.plan_cache_info()
    assert info.currsize == 1 and info.hits >= 1


def test_permute_and_reduce():
    a = dense(2, 3, 4)
    near(tt.permute("abc->cab", a, 2.0), 2 * a.transpose(2, 0, 1))
    near(tt.reduce("add", "abc->b", a), a.sum(axis=(0, 2)))
    near(tt.reduce("max", "abc->ca", a), a.max(axis=1).T)
    near(tt.reduce("mul", "abc->", a), np.asarray(a.prod()))
    with pytest.raises(ValueError, match="op"):
        tt.reduce("median", "abc->b", a)


@pytest.mark.parametrize("dtype", TYPES)
def test_tucker_and_trains(dtype):
    core, *f = dense(2, 3, 2, dtype=dtype), dense(6, 2, dtype=dtype), dense(5, 3, dtype=dtype), dense(7, 2, dtype=dtype)
    x = np.einsum("abc,ia,jb,kc->ijk", core, *f).astype(dtype)
    tiny = 200 * np.finfo(dtype).eps * np.linalg.norm(x)
    for method in ("hosvd", "st-hosvd", "hooi", "randomized"):
        (g, u), report = tt.tucker_decompose(x, (2, 3, 2), method=method, return_accuracy=True)
        assert g.shape == (2, 3, 2) and np.linalg.norm(tt.tucker_reconstruct(g, u) - x) <= tiny and report.error <= tiny
        assert all(np.abs(a.conj().T @ a - np.eye(a.shape[1])).max() < 100 * np.finfo(dtype).eps for a in u)
    assert tt.tucker_decompose(x, epsilon=1e-3).core.shape == (2, 3, 2)
    cores, report = tt.tt_decompose(x, epsilon=1e-3, return_accuracy=True)
    assert [c.shape for c in cores] == [(1, 6, 2), (2, 5, 2), (2, 7, 1)]
    assert np.linalg.norm(tt.tt_reconstruct(cores) - x) <= max(report.bound, tiny)
    doubled = [np.concatenate([cores[0], cores[0]], axis=2), np.stack([np.stack([cores[1], 0 * cores[1]]), np.stack([0 * cores[1], cores[1]])])
               .transpose(0, 2, 3, 1, 4).reshape(4, 5, 4), np.concatenate([cores[2], cores[2]], axis=0)]
    rounded = tt.tt_round(doubled, epsilon=1e-3)
    assert [c.shape for c in rounded] == [c.shape for c in cores] and np.linalg.norm(tt.tt_reconstruct(rounded) - 2 * x) <= 2e-3 * np.linalg.norm(2 * x)
    assert tt.tt_decompose(x, 1)[1].shape == (1, 5, 1)


def test_cp():
    f = [np.linalg.qr(dense(n, 3))[0] for n in (6, 7, 8)]
    x = np.einsum("r,ir,jr,kr->ijk", [3.0, 2.0, 1.0], *f)
    for options in ({}, {"method": "randomized"}):
        (factors, weights), report = tt.cp_decompose(x, 3, starts=4, return_accuracy=True, **options)
        assert report.fit > 1 - 1e-5 and np.allclose(weights, [3, 2, 1], atol=1e-4)
        assert np.linalg.norm(tt.cp_reconstruct(factors, weights) - x) <= report.bound + 1e-12
    y = np.abs(x)
    (factors, weights), report = tt.cp_decompose(y, 4, 50, 1e-6, True, return_accuracy=True)
    assert min(a.min() for a in factors) >= 0 and weights.min() >= 0
    x[0, 0, 0] = np.nan
    with pytest.warns(trnsci.NumericalWarning, match="not finite"):
        tt.cp_decompose(x, 1)
    with pytest.raises(ValueError):
        tt.cp_decompose(np.ones(3), 1)


def test_chemistry():
    n, o, v, p = 6, 2, 3, 5
    c_occ, c_vir, three, four = dense(n, o), dense(n, v), dense(p, n, n), dense(n, n, n, n)
    near(tt.ao_to_mo_transform(three, c_occ, c_vir), np.einsum("pmn,mi,na->pia", three, c_occ, c_vir), 200)
    near(tt.ao_to_mo_transform(four, c_occ, c_vir), np.einsum("mnls,mi,na,lj,sb->iajb", four, c_occ, c_vir, c_occ, c_vir), 200)
    b, e_occ, e_vir = dense(o, v, p), -RNG.uniform(1, 2, o), RNG.uniform(1, 2, v)
    t = np.einsum("iap,jbp->ijab", b, b)
    gaps = e_occ[:, None, None, None] + e_occ[None, :, None, None] - e_vir[None, None, :, None] - e_vir
    want = (t * (2 * t - t.swapaxes(2, 3)) / gaps).sum()
    assert abs(tt.mp2_energy(b, e_occ, e_vir) - want) < 1e-13 * abs(want)


def test_on_a_device():
    a, b = dense(64, 32, dtype=np.float32), dense(32, 48, dtype=np.float32)
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        y, accuracy = tt.contract("ij,jk->ik", a, b, return_accuracy=True)
    assert r.count("run") >= 1
    assert (np.abs(y - a.astype(float) @ b.astype(float)) <= accuracy.bound * (np.abs(a).astype(float) @ np.abs(b).astype(float))).all()
    d = tt.to_xla(a, "sim:trn2")
    assert np.array_equal(tt.from_xla(tt.contract("ij,jk->ik", d, tt.to_xla(b, "sim:trn2"))), y)
    z, accuracy = tt.contract("ij,jk->ik", a, b, target_forward_error=1e-6, executor="sim:trn2", return_accuracy=True)
    assert accuracy.bound <= 1e-6
    with pytest.raises(ValueError, match="the best is"):  # float32 has no more digits
        tt.contract("ij,jk->ik", a, b, target_forward_error=1e-8, executor="sim:trn2")
