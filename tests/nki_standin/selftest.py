"""Checks of the stand-in itself against values a reader can recompute: python3 selftest.py"""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = "trn2"
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np  # noqa: E402
import nki.isa as nisa  # noqa: E402
import nki.language as nl  # noqa: E402
import run_kernel  # noqa: E402
from nki import _arithmetic as arith  # noqa: E402
from nki._memory import NkiError  # noqa: E402


def tile(values, dtype=nl.float32, buffer=nl.sbuf):
    values = np.asarray(values, np.float32)
    t = nl.ndarray(values.shape, dtype=dtype, buffer=buffer)
    t.write(values)
    return t


def words(values, dtype=nl.int32):
    t = nl.ndarray(np.shape(values), dtype=dtype, buffer=nl.sbuf)
    t.write_bits(np.asarray(values))
    return t


def code(dtype, value):
    return int(dtype.encode(np.float32([value]))[0])


class Conversions(unittest.TestCase):
    def test_literal_patterns(self):
        self.assertEqual(code(nl.bfloat16, 1.0), 0x3F80)
        self.assertEqual(code(nl.bfloat16, 1 + 2**-8), 0x3F80)  # tie to even, down
        self.assertEqual(code(nl.bfloat16, 1 + 3 * 2**-8), 0x3F82)  # tie to even, up
        self.assertEqual(code(nl.bfloat16, 3.4e38), 0x7F80)
        self.assertEqual(code(nl.float16, 65504.0), 0x7BFF)
        self.assertEqual(code(nl.float16, 65519.0), 0x7BFF)
        self.assertEqual(code(nl.float16, 65520.0), 0x7C00)
        self.assertEqual(code(nl.float16, 2.0**-24), 0x0001)
        self.assertEqual(code(nl.float16, -(2.0**-25)), 0x8000)
        self.assertEqual(code(nl.float8_e4m3, 240.0), 0x77)
        self.assertEqual(code(nl.float8_e4m3, 248.0), 0x78)  # infinity
        self.assertEqual(code(nl.float8_e4m3fn, 448.0), 0x7E)
        self.assertEqual(code(nl.float8_e4m3fn, 464.0), 0x7E)
        self.assertEqual(code(nl.float8_e4m3fn, 465.0), 0x7F)  # NaN
        self.assertEqual(code(nl.float8_e5m2, 57344.0), 0x7B)
        self.assertEqual(code(nl.tfloat32, 1 + 2**-11), 0x3F800000)
        self.assertEqual(code(nl.tfloat32, 1 + 3 * 2**-11), 0x3F804000)

    def test_every_narrow_pattern_survives(self):
        for dtype in (nl.bfloat16, nl.float16, nl.float8_e4m3, nl.float8_e4m3fn, nl.float8_e5m2):
            codes = np.arange(1 << (8 * dtype.size), dtype=dtype.storage)
            values = dtype.decode(codes)
            keep = ~np.isnan(values)
            np.testing.assert_array_equal(dtype.encode(values)[keep], codes[keep], err_msg=dtype.name)
        codes = np.arange(1 << 16, dtype=np.uint16)
        numpy_half = codes.view(np.float16).astype(np.float32)
        np.testing.assert_array_equal(nl.float16.decode(codes), numpy_half)

    def test_half_rounding_agrees_with_numpy(self):
        bits = np.random.default_rng(1).integers(0, 1 << 32, 200000, dtype=np.uint64).astype(np.uint32)
        values = bits.view(np.float32)
        with np.errstate(all="ignore"):
            expected = values.astype(np.float16)
        keep = ~np.isnan(values)
        np.testing.assert_array_equal(nl.float16.encode(values)[keep], expected.view(np.uint16)[keep])

    def test_integers_round_to_even_and_saturate(self):
        out = nl.int8.encode(np.float32([2.5, 3.5, 1000, -1000, np.nan, -0.5]))
        self.assertEqual(out.tolist(), [2, 4, 127, -128, 0, 0])


class Arithmetic(unittest.TestCase):
    def test_fused_multiply_add_rounds_once(self):
        # (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24: separate rounding would give 0.
        a, c = np.float32([1 + 2**-12]), np.float32([-(1 + 2**-11)])
        self.assertEqual(float(arith.fused_multiply_add(a, a, c)[0]), 2.0**-24)
        # c + 2^-24 - 2^-70 with c = 1 + 2^-23 lies just below a tie: down to c. float64 alone loses the 2^-70, sees the
        # tie and goes up to even.
        a, b, c = (np.float32([v]) for v in (2.0**-24 * (1 + 2.0**-23), 1 - 2.0**-23, 1 + 2.0**-23))
        self.assertEqual(float(arith.fused_multiply_add(a, b, c)[0]), 1 + 2**-23)
        self.assertEqual(float(arith.fused_multiply_add(np.float32([2.0**-24]), np.float32([1]), c)[0]), 1 + 2**-22)

    def test_fused_multiply_add_against_exact_fractions(self):
        from fractions import Fraction

        rng = np.random.default_rng(2)
        a, b, c = ((rng.standard_normal(500) * 2.0 ** rng.integers(-30, 30, 500)).astype(np.float32) for _ in range(3))
        c = np.where(rng.random(500) < 0.5, -(a * b) * (1 + 2.0**-22), c).astype(np.float32)
        got = arith.fused_multiply_add(a, b, c)
        for i in range(500):
            exact = Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i]))
            error = abs(Fraction(float(got[i])) - exact)
            for other in (np.nextafter(got[i], np.float32(np.inf)), np.nextafter(got[i], np.float32(-np.inf))):
                self.assertLessEqual(error, abs(Fraction(float(other)) - exact))


class Calls(unittest.TestCase):
    def test_matmul(self):
        ps = nl.ndarray((2, 2), dtype=nl.float32, buffer=nl.psum)
        a, b = tile([[1, 2], [3, 4]], nl.bfloat16), tile([[5, 6], [7, 8]], nl.bfloat16)
        nisa.nc_matmul(dst=ps, stationary=a, moving=b, accumulate=False)
        self.assertEqual(ps.values().tolist(), [[26, 30], [38, 44]])
        nisa.nc_matmul(dst=ps, stationary=a, moving=b, accumulate=True)
        self.assertEqual(ps.values().tolist(), [[52, 60], [76, 88]])

    def test_double_row_is_256_rows(self):
        stationary, moving = np.ones((128, 2, 1)), np.ones((128, 2, 3))
        ps = nl.ndarray((1, 3), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=ps, stationary=tile(stationary, nl.float8_e4m3), moving=tile(moving, nl.float8_e5m2),
                       accumulate=False, perf_mode=nisa.matmul_perf_mode.double_row)
        self.assertEqual(ps.values().tolist(), [[256, 256, 256]])

    def test_parts_of_the_array(self):
        x = tile(np.arange(128 * 32).reshape(128, 32) % 7, nl.bfloat16)
        ps = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=ps[64:66, 0:4], stationary=x[32:64, 0:2], moving=x[32:64, 4:8], accumulate=False,
                       tile_position=(32, 64), tile_size=(32, 32))
        a = np.arange(128 * 32).reshape(128, 32)[32:64] % 7
        np.testing.assert_array_equal(ps[64:66, 0:4].values(), a[:, 0:2].T @ a[:, 4:8])

    def test_microscaling(self):
        os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = "trn3"
        try:
            values = np.zeros((32, 8))
            values[0, 0:4] = [1, -2, 300, 0.25]  # the largest has exponent 8: scale 2^(8 - 7)
            values[9, 4:8] = [2**-9, 0, 0, 0]
            q, s = (nl.ndarray((rows, 2), dtype=d, buffer=nl.sbuf) for rows, d in ((32, nl.float8_e4m3fn_x4), (4, nl.uint8)))
            nisa.quantize_mx(dst=q, src=tile(values, nl.bfloat16), dst_scale=s)
            self.assertEqual(s.bits().tolist(), [[128, 0], [0, 127 - 9 - 7], [0, 0], [0, 0]])
            # 0.5, -1, 150 (144 is nearer than 160), 0.125 in e4m3
            self.assertEqual(int(q.bits()[0, 0]), 0x20710000 | 0xB8 << 8 | 0x30)
            four = nl.ndarray((32, 2), dtype=nl.float4_e2m1fn_x4, buffer=nl.sbuf)
            four.write_bits(np.full((32, 2), 0x7A31))  # 0.5, 1.5, -1, 6
            one = nl.ndarray((4, 2), dtype=nl.uint8, buffer=nl.sbuf)
            one.write_bits(np.full((4, 2), 127))
            ps = nl.ndarray((2, 2), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul_mx(dst=ps, stationary=four, moving=q, stationary_scale=one, moving_scale=s, accumulate=False)
            first = 0.5 * 1 + 1.5 * -2 - 1 * 288 + 6 * 0.25
            self.assertEqual(ps.values().tolist(), [[first, 2**-10]] * 2)
        finally:
            os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = "trn2"

    def test_exponential_and_its_sums(self):
        os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = "trn3"
        try:
            out, r = (nl.ndarray((1, n), dtype=nl.float32, buffer=nl.sbuf) for n in (3, 1))
            nisa.exponential(dst=out, src=tile([[2, 2, 2]]), max_value=2.0, reduce_cmd=nisa.reduce_cmd.load_reduce, reduce_init=5.0)
            nisa.exponential(dst=out, src=tile([[1, 1, 1]]), max_value=tile([[1]]), reduce_res=r, reduce_cmd=nisa.reduce_cmd.reduce)
            self.assertEqual((out.values().tolist(), r.values().tolist()), ([[1, 1, 1]], [[11]]))
            nisa.exponential(dst=out, src=out)
            with self.assertRaisesRegex(NkiError, "nothing began"):
                nisa.exponential(dst=out, src=out, reduce_cmd=nisa.reduce_cmd.reduce)
        finally:
            os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = "trn2"

    def test_statistics(self):
        stats, out = (nl.ndarray((1, n), dtype=nl.float32, buffer=nl.sbuf) for n in (6, 2))
        nisa.bn_stats(dst=stats, data=tile([[1, 10, 3, 30, 5]]))
        self.assertEqual(stats.values().tolist(), [[3, 3, 8, 2, 20, 200]])
        nisa.bn_aggr(dst=out, data=stats)
        np.testing.assert_allclose(out.values()[0], [np.mean([1, 10, 3, 30, 5]), np.var([1, 10, 3, 30, 5])], rtol=1e-6)

    def test_transpose_keeps_nan(self):
        ps = nl.ndarray((2, 2), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_transpose(dst=ps, data=tile([[1, np.nan], [np.inf, 4]]), engine=nisa.engine.tensor)
        np.testing.assert_array_equal(ps.values(), [[1, np.inf], [np.nan, 4]])

    def test_tensor_scalar(self):
        out = nl.ndarray((1, 3), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=out, data=tile([[1, 2, 3]]), op0=nl.subtract, operand0=10.0, reverse0=True,
                           op1=nl.multiply, operand1=0.5)
        self.assertEqual(out.values().tolist(), [[4.5, 4.0, 3.5]])
        bits = words([[0xF0, 0x0F, 0xFF]], nl.uint8)
        nisa.tensor_scalar(dst=bits, data=bits, op0=nl.bitwise_and, operand0=0x3C, op1=nl.right_shift, operand1=2)
        self.assertEqual(bits.bits().tolist(), [[12, 3, 15]])

    def test_integers_lose_bits_on_vector_and_not_on_gpsimd(self):
        x, one = words([[2**24, -(2**31)]]), words([[1, -1]])
        out = nl.ndarray((1, 2), dtype=nl.int32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=out, data1=x, data2=one, op=nl.add, engine=nisa.engine.vector)
        self.assertEqual(out.bits().tolist(), [[2**24, -(2**31)]])
        nisa.tensor_tensor(dst=out, data1=x, data2=one, op=nl.add, engine=nisa.engine.gpsimd)
        self.assertEqual(out.bits().tolist(), [[2**24 + 1, 2**31 - 1]])

    def test_reduce_scan_select(self):
        data = tile([[[1, 2, 3], [4, 5, 6]]])
        out = nl.ndarray((1, 2), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=out, op=nl.add, data=data, axis=(2,), negate=True)
        self.assertEqual(out.values().tolist(), [[-6, -15]])
        scan = nl.ndarray((1, 3), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor_scan(dst=scan, data0=tile([[2, 3, 4]]), data1=tile([[1, 1, 1]]), initial=1.0,
                                op0=nl.multiply, op1=nl.add)
        self.assertEqual(scan.values().tolist(), [[3, 10, 41]])
        square = nl.ndarray((2, 2), dtype=nl.float32, buffer=nl.sbuf)
        nisa.affine_select(dst=square, pattern=[[-1, 2]], channel_multiplier=1, on_true_tile=tile([[1, 2], [3, 4]]),
                           on_false_value=-9.0, cmp_op=nl.greater_equal, offset=0)
        self.assertEqual(square.values().tolist(), [[1, -9], [3, 4]])

    def test_reductions_into_registers(self):
        cmd = nisa.reduce_cmd
        out, res = nl.ndarray((1, 3), dtype=nl.float32, buffer=nl.sbuf), tile([[0.0]])
        data = tile([[1, 2, 3]])
        nisa.tensor_scalar_reduce(dst=out, data=data, op0=nl.multiply, operand0=2.0, reduce_op=nl.add,
                                  reduce_cmd=cmd.reset_reduce)
        nisa.tensor_scalar_reduce(dst=out, data=data, op0=nl.add, operand0=1.0, reduce_op=nl.add, reduce_res=res,
                                  reduce_cmd=cmd.reduce, reduce_res_negate=True)
        self.assertEqual((out.values().tolist(), res.values().tolist()), ([[2, 3, 4]], [[-21]]))
        nisa.tensor_scalar_cumulative(dst=out, src=data, op0=nl.add, op1=nl.subtract, imm0=0.0, imm1=10.0,
                                      reduce_cmd=cmd.load_reduce)
        self.assertEqual(out.values().tolist(), [[-9, 11, -8]])
        nisa.select_reduce(dst=out, predicate=words([[1, 0, -1]], nl.int8), on_true=data, on_false=0.5,
                           reduce_cmd=cmd.idle)
        self.assertEqual(out.values().tolist(), [[1, 0.5, 3]])
        with self.assertRaisesRegex(NkiError, "nothing began"):  # after an idle instruction
            nisa.tensor_scalar_cumulative(dst=out, src=data, op0=nl.add, op1=nl.add, imm0=0.0, reduce_cmd=cmd.reduce)
        half = nl.ndarray((1, 3), dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.range_select(dst=half, on_true_tile=data, comp_op0=nl.greater, comp_op1=nl.less, bound0=tile([[5]]),
                          bound1=tile([[9]]), reduce_cmd=cmd.reset_reduce, reduce_res=res, range_start=6)
        self.assertEqual(half.values().tolist(), [[1, 2, 3]])
        nisa.range_select(dst=half, on_true_tile=data, comp_op0=nl.greater, comp_op1=nl.less, bound0=tile([[5]]),
                          bound1=tile([[9]]), reduce_cmd=cmd.reset_reduce, reduce_res=res, range_start=9)
        self.assertEqual(half.values().tolist(), [[-np.inf] * 3])
        self.assertEqual(res.values().tolist(), [[float(np.finfo(np.float32).min)]])

    def test_searches(self):
        data = tile([[1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8]])
        vals = tile([[3, 8, 8, 8, 8, 8, 8, 8]])
        top, places = tile(np.zeros((1, 8))), words(np.zeros((1, 8)), nl.uint16)
        nisa.max8(dst=top, src=tile([[5, np.nan, 1, 5, 2, np.inf, -1, 0, 9]]))
        np.testing.assert_array_equal(top.values(), [[np.nan, np.inf, 9, 5, 5, 2, 1, 0]])
        nisa.nc_find_index8(dst=places, data=data, vals=tile([[3, 8, 8, 7, np.nan, 8, 1, 1]]))
        self.assertEqual(places.bits().tolist(), [[2, 4, 5, 0xFFFF, 0xFFFF, 6, 0, 0xFFFF]])
        nisa.nc_match_replace8(dst=data, data=data, vals=vals, imm=-1.0, dst_idx=places)  # the documented example
        self.assertEqual(places.bits().tolist(), [[2, 10, 9, 8, 7, 6, 5, 4]])
        self.assertEqual(data.values().tolist(), [[1, 2, -1, 4] + [-1] * 7])

    def test_nonzero_with_count(self):
        out = words(np.full((32, 9), -9), nl.int32)
        data = np.ones((32, 8))
        data[0] = [0, 1, 1, 0, -0.0, 1, 0, 0]
        nisa.nonzero_with_count(dst=out, src=tile(data), index_offset=16, padding_val=-1)
        self.assertEqual(out.bits()[0].tolist(), [17, 18, 21, -1, -1, -1, -1, -1, 3])  # the documented example
        self.assertEqual(out.bits()[16].tolist(), list(range(16, 24)) + [8])
        self.assertEqual(out.bits()[1].tolist(), [-9] * 9)

    def test_iota_and_gather(self):
        where = nl.ndarray((16, 1), dtype=nl.uint16, buffer=nl.sbuf)
        nisa.iota(dst=where, pattern=[[0, 1]], offset=15, channel_multiplier=-1)
        out = nl.ndarray((16, 16), dtype=nl.float32, buffer=nl.sbuf)
        nisa.local_gather(dst=out, src_buffer=tile(np.tile(np.arange(16), (16, 1))), index=where)
        self.assertEqual(out.values()[3].tolist(), list(range(15, -1, -1)))

    def test_gather_of_runs_counts_elements(self):
        starts = words(np.full((16, 1), 8), nl.uint16)
        out = nl.ndarray((16, 8), dtype=nl.float32, buffer=nl.sbuf)
        nisa.local_gather(dst=out, src_buffer=tile(np.tile(np.arange(16), (16, 1))), index=starts, num_elem_per_idx=4,
                          num_valid_indices=2)
        self.assertEqual(out.values()[0].tolist(), [8, 9, 10, 11] * 2)

    def test_indirect_copy(self):
        table = nl.ndarray((4, 2), dtype=nl.float32, buffer=nl.shared_hbm)
        table.write([[0, 1], [10, 11], [20, 21], [30, 31]])
        index = words([[3], [0], [9]], nl.uint32)
        out = tile(np.zeros((3, 2)))
        rows = table.ap(pattern=[[2, 3], [1, 2]], vector_offset=index, indirect_dim=0)
        nisa.dma_copy(dst=out, src=rows, oob_mode=nisa.oob_mode.skip)
        self.assertEqual(out.values().tolist(), [[30, 31], [0, 1], [0, 0]])
        with self.assertRaises(NkiError):
            nisa.dma_copy(dst=out, src=rows)

    def test_views_alias(self):
        t = tile(np.arange(8).reshape(2, 4))
        nisa.tensor_copy(dst=t.ap(pattern=[[4, 2], [2, 2]], offset=1), src=tile([[-1, -2], [-3, -4]]))
        self.assertEqual(t.values().tolist(), [[0, -1, 2, -2], [4, -3, 6, -4]])
        self.assertEqual(t.view(nl.uint32)[1:2, 0:1].bits().tolist(), [[0x40800000]])


class Refusals(unittest.TestCase):
    def test_rules(self):
        sb, ps = tile(np.zeros((128, 4))), tile(np.zeros((128, 4)), buffer=nl.psum)
        fresh = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.sbuf)
        for call in (
            lambda: nisa.tensor_copy(dst=sb, src=fresh),
            lambda: nisa.tensor_tensor(dst=sb, data1=ps, data2=ps, op=nl.add),
            lambda: nisa.dma_copy(dst=sb, src=ps),
            lambda: nisa.memset(dst=ps, value=0.0, engine=nisa.engine.gpsimd),
            lambda: nisa.memset(dst=sb, value=0),
            lambda: nisa.tensor_copy(dst=sb[1:65, 0:4], src=fresh[0:64, 0:4]),
            lambda: nisa.nc_matmul(dst=sb, stationary=sb, moving=sb, accumulate=False),
            lambda: sb[0:128, 0:5],
            lambda: sb.ap(pattern=[[8, 64], [1, 4]]),
            lambda: sb.ap(pattern=[[4, 128], [1, 4]], offset=1),
        ):
            with self.assertRaises(NkiError):
                call()
        with self.assertRaisesRegex(NkiError, "unknown-keyword"):
            nisa.memset(dst=sb, value=0.0, mask=None)
        with self.assertRaisesRegex(NkiError, "missing-keyword"):
            nisa.memset(dst=sb)


KERNEL = """import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def k(x, c):
    y = nl.ndarray((4, 3), dtype=nl.float32, buffer=nl.shared_hbm)
    t = nl.ndarray((4, 3), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.dma_copy(dst=y[0:{rows}, 0:3], src=t[0:{rows}, 0:3])
    nisa.dma_copy(dst=c[0:2, 0:3], src=t[0:2, 0:3])
    return y, {second}
"""


class Runs(unittest.TestCase):
    """run_kernel.py: what is returned, and what must have been written."""

    def run_kernel(self, rows, second="c", argument=1):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "kernel.py").write_text(KERNEL.format(rows=rows, second=second))
            np.arange(12, dtype=np.float32).tofile(folder / "x.bin")
            np.full(12, -1, np.float32).tofile(folder / "c.bin")
            side = {"dtype": "float32", "shape": [4, 3]}
            second_output = {"file": "c.out"} if argument is None else {"file": "c.out", "argument": argument}
            manifest = {"module": "kernel.py", "kernel": "k", "target": "trn2",
                        "inputs": [{"file": "x.bin", **side}, {"file": "c.bin", **side}],
                        "outputs": [{"file": "y.out"}, second_output]}
            (folder / "manifest.json").write_text(json.dumps(manifest))
            run_kernel.run(folder / "manifest.json")
            return np.fromfile(folder / "y.out", np.float32), np.fromfile(folder / "c.out", np.float32)

    def test_an_argument_keeps_what_is_not_written(self):
        y, c = self.run_kernel(4)
        self.assertEqual(y.tolist(), list(range(12)))
        self.assertEqual(c.tolist(), list(range(6)) + [-1] * 6)

    def test_a_fresh_output_must_be_written_as_a_whole(self):
        with self.assertRaisesRegex(SystemExit, "y.out: not fully written"):
            self.run_kernel(3)

    def test_the_argument_itself_is_returned(self):
        with self.assertRaisesRegex(SystemExit, "not argument 1"):
            self.run_kernel(4, second="x")
        with self.assertRaisesRegex(SystemExit, "an argument is returned"):
            self.run_kernel(4, argument=None)

    def test_unwritten_memory_is_poison(self):
        for dtype in (nl.float32, nl.bfloat16, nl.float16, nl.float8_e5m2):
            fresh = nl.ndarray((2, 4), dtype=dtype, buffer=nl.shared_hbm)
            self.assertTrue(np.isnan(dtype.decode(fresh.memory.data.view(dtype.storage))).all())


class Dynamic(unittest.TestCase):
    def test_loops_count_in_registers(self):
        seen, n = [], nisa.register_alloc(3)
        nl.fori_loop(0, n, lambda i: seen.append(i.value))
        nl.fori_loop(1, 8, lambda i: seen.append(i.value), step=3)
        self.assertEqual(seen, [0, 1, 2, 1, 4, 7])
        left = [3, 2, 0]

        def body(r):
            seen.append(-r.value)
            nisa.register_move(r, left.pop(0))
            return r

        nl.while_loop(nisa.register_alloc(5), body)
        self.assertEqual(seen[6:], [-5, -3, -2])
        nl.while_loop(nisa.register_alloc(0), body)
        with self.assertRaisesRegex(NkiError, "register of a fori_loop is written"):
            nl.fori_loop(0, 1, lambda i: nisa.register_move(i, 4))

    def test_registers_hold_32_bits(self):
        r = nisa.register_alloc()
        nisa.register_load(r, words([[2**32 - 7]], nl.uint32))
        self.assertEqual(r.value, -7)
        out = words([[0]], nl.uint32)
        nisa.register_store(out, r)
        self.assertEqual(out.bits().tolist(), [[2**32 - 7]])

    def test_starts_from_registers_and_tiles(self):
        x = nl.ndarray((4, 2), dtype=nl.float32, buffer=nl.hbm)
        x.write(np.arange(8).reshape(4, 2))
        for start in (nisa.register_alloc(2), words([[2]])):
            t = nl.ndarray((2, 2), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=t, src=x.ap(pattern=[[2, 2], [1, 2]], scalar_offset=start, indirect_dim=0))
            self.assertEqual(t.values().tolist(), [[4, 5], [6, 7]])
        with self.assertRaises(NkiError):
            x.ap(pattern=[[2, 2], [1, 2]], scalar_offset=nisa.register_alloc(3), indirect_dim=0)

    def test_gather_shuffle_and_sum(self):
        t, out = tile([[1, 2, 3], [4, 5, 6]]), tile([[0, 0], [0, 0]])
        nisa.nc_n_gather(dst=out, data=t, indices=words([[2, 0], [1, 1]], nl.uint32))
        self.assertEqual(out.values().tolist(), [[3, 1], [5, 5]])
        with self.assertRaisesRegex(NkiError, "index 3 of 3"):
            nisa.nc_n_gather(dst=out, data=t, indices=words([[2, 3], [1, 1]], nl.uint32))
        column = tile(np.arange(64).reshape(64, 1))
        nisa.nc_stream_shuffle(dst=column, src=column, shuffle_mask=[255] + list(range(31)))
        self.assertEqual(column.values().reshape(-1).tolist()[30:36], [29, 30, 32, 32, 33, 34])
        nisa.dma_compute(dst=out, srcs=[out, out, tile([[0.5, 0], [0, 0]])], reduce_op=nl.add)
        self.assertEqual(out.values().tolist(), [[6.5, 2], [10, 10]])


if __name__ == "__main__":
    unittest.main()
