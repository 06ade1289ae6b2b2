"""One good and one bad text for every rule of check_text.py, and what check_emitted.py reads: python3 rules_test.py"""

import sys
import textwrap
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import check_text  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import check_emitted  # noqa: E402

FRAME = """# k: an NKI kernel for {machine}, generated from tile program 0; never run on silicon.
# Arguments, in order:
#   x: float32 (128, 64)
#   v: float32 (2, 2, 2, 2, 8)
#   r: uint32 (128, 1)
# Returns, in order:
#   y: float32 (128, 64)
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def k(x, v, r):
    y = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    w = nl.ndarray((128, 64), dtype=nl.uint32, buffer=nl.sbuf)
    c = nl.ndarray((128, 1), dtype=nl.uint32, buffer=nl.sbuf)
    p = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)
    q = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)
    nisa.dma_copy(dst=t, src=x)
    nisa.memset(dst=w, value=1)
    nisa.dma_copy(dst=c, src=r)
    nisa.tensor_copy(dst=p, src=t)
    nisa.tensor_copy(dst=q, src=t)
{body}
    nisa.tensor_tensor(dst=t, data1=p, data2=t, op=nl.add)
    nisa.tensor_tensor(dst=t, data1=q, data2=t, op=nl.add)
    nisa.tensor_scalar(dst=w, data=w, op0=nl.bitwise_and, operand0=c)
    nisa.dma_copy(dst=y, src=t)
    nisa.tensor_copy(dst=t, src=w)
    nisa.dma_copy(dst=y, src=t)
    return y
"""


def rules(body, machine="trn2"):
    text = FRAME.format(machine=machine, body=textwrap.indent(body, "    "))
    return sorted({finding.rule for finding in check_text.check(text)})


class Rules(unittest.TestCase):
    def expect(self, rule, bad, good, machine="trn2", good_machine=None):
        self.assertEqual(rules(good, good_machine or machine), [], good)
        self.assertEqual(rules(bad, machine), [rule], bad)

    def test_unknown_call(self):
        self.expect("unknown-call", "nisa.tensor_add(dst=t, data1=t, data2=t)",
                    "nisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.add)")
        self.expect("unknown-call", "nl.load(x)", "nisa.dma_copy(dst=t, src=x)")

    def test_unknown_name(self):
        self.expect("unknown-name", "nisa.tensor_copy(dst=t, src=t, engine=nisa.engine.pool)",
                    "nisa.tensor_copy(dst=t, src=t, engine=nisa.engine.gpsimd)")
        self.expect("unknown-name", "nisa.activation(dst=t, op=nl.expm1, data=t)", "nisa.activation(dst=t, op=nl.exp, data=t)")

    def test_unknown_keyword(self):
        self.expect("unknown-keyword", "nisa.tensor_copy(dst=t, src=t, mask=None)", "nisa.tensor_copy(dst=t, src=t)")
        self.expect("unknown-keyword", "nisa.dma_copy(dst=t, src=x.ap(pattern=[[64, 128], [1, 64]], start=0))",
                    "nisa.dma_copy(dst=t, src=x.ap(pattern=[[64, 128], [1, 64]], offset=0))")

    def test_missing_keyword(self):
        self.expect("missing-keyword", "nisa.tensor_tensor(dst=t, data1=t, data2=t)",
                    "nisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.add)")

    def test_positional_argument(self):
        self.expect("positional-argument", "nisa.tensor_copy(t, t)", "nisa.tensor_copy(dst=t, src=t)")

    def test_statement(self):
        self.expect("statement", "if True:\n    nisa.memset(dst=t, value=0.0)", "nisa.memset(dst=t, value=0.0)")

    def test_unrolled_calls(self):
        loop = "for i in range({}):\n    for j in range(10, 110):\n        nisa.tensor_copy(dst=t, src=t)"
        body = "def b(i):\n    nisa.tensor_copy(dst=t, src=t)\nnl.fori_loop(0, 100000, b)"
        self.expect("unrolled-calls", loop.format(200), loop.format(190))
        self.expect("unrolled-calls", loop.format(200), body)
        # Loops around a device loop count, its own rounds do not.
        around = "def b(i):\n    for j in range({}):\n        nisa.tensor_copy(dst=t, src=t)\nnl.fori_loop(0, 4, b)"
        self.expect("unrolled-calls", around.format(20000), around.format(19000))
        text = FRAME.format(machine="trn2", body=textwrap.indent(loop.format(200), "    "))
        self.assertEqual(check_text.check(text, most=30000), [])

    def test_wrong_machine(self):
        exponential = "nisa.exponential(dst=t, src=t, max_value=0.0)"
        self.expect("wrong-machine", exponential, exponential, "trn2", "trn3")
        absolute = "nisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.abs_max)"
        self.expect("wrong-machine", absolute, absolute, "trn2", "trn3")

    def test_wrong_engine(self):
        self.expect("wrong-engine", "nisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.add, engine=nisa.engine.scalar)",
                    "nisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.add, engine=nisa.engine.vector)")
        self.expect("wrong-engine", "nisa.dma_copy(dst=t, src=x, engine=nisa.engine.sync)",
                    "nisa.dma_copy(dst=t, src=x, dge_mode=nisa.dge_mode.hwdge, engine=nisa.engine.sync)")

    def test_rsqrt_is_not_on_vector(self):
        text = "nisa.tensor_scalar(dst=t, data=t, op0=nl.rsqrt, operand0=0.0, engine=nisa.engine.{})"
        self.expect("wrong-engine", text.format("vector"), text.format("gpsimd"))
        self.expect("wrong-engine", text.format("scalar"), "nisa.activation(dst=t, op=nl.rsqrt, data=t)")

    def test_wrong_space(self):
        self.expect("wrong-space", "nisa.dma_copy(dst=t, src=p)", "nisa.tensor_copy(dst=t, src=p)")
        self.expect("wrong-space", "nisa.tensor_copy(dst=t, src=x)", "nisa.dma_copy(dst=t, src=x)")
        self.expect("wrong-space", "nisa.memset(dst=p, value=0.0, engine=nisa.engine.gpsimd)", "nisa.memset(dst=p, value=0.0)")

    def test_two_psum(self):
        self.expect("two-psum", "nisa.tensor_tensor(dst=t, data1=p, data2=q, op=nl.add)",
                    "nisa.tensor_tensor(dst=t, data1=p, data2=t, op=nl.add)")

    def test_hbm_levels(self):
        five = "e = nl.ndarray((2, 64), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_copy(dst=e, src={})\nnisa.dma_copy(dst=y[0:2, 0:64], src=e)"
        self.expect("hbm-levels", five.format("v"), five.format("v.ap(pattern=[[64, 2], [32, 2], [16, 2], [1, 16]])"))

    def test_free_dims(self):
        array = "e = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(dst=e, value=0.0)\n"
        four = "e.ap(pattern=[[256, 128], [128, 2], [32, 2], [6, 4], [1, 4]])"
        three = "e.ap(pattern=[[256, 128], [128, 2], [32, 2], [1, 16]])"
        text = array + "nisa.tensor_tensor(dst=t, data1={}, data2=t, op=nl.add)"
        self.expect("free-dims", text.format(four), text.format(three))
        self.assertEqual(rules(array + f"nisa.tensor_scalar(dst=t, data={four}, op0=nl.add, operand0=1.0)"), [])

    def test_wrong_dtype(self):
        self.expect("wrong-dtype", "nisa.tensor_copy_predicated(dst=t, src=t, predicate=t)",
                    "nisa.tensor_copy_predicated(dst=t, src=t, predicate=w)")
        self.expect("wrong-dtype", "nisa.tensor_scalar(dst=t, data=t, op0=nl.bitwise_and, operand0=1)",
                    "nisa.tensor_scalar(dst=w, data=w, op0=nl.bitwise_and, operand0=1)")

    def test_immediate(self):
        mask = "nisa.tensor_scalar(dst=w, data=w, op0=nl.bitwise_and, operand0={})"
        self.expect("immediate", mask.format(0x1FFFFFFF), mask.format(0x00FFFFFF))
        self.expect("immediate", mask.format(2**24 + 1), mask.format(0xFF000000))

    def test_wrong_operator(self):
        self.expect("wrong-operator", "nisa.tensor_reduce(dst=t[0:128, 0:1], op=nl.abs, data=t, axis=(1,))",
                    "nisa.tensor_reduce(dst=t[0:128, 0:1], op=nl.add, data=t, axis=(1,))")

    def test_vector_registers(self):
        text = "nisa.tensor_scalar_reduce(dst=t, data=t, op0={}, operand0={}, reduce_op={}{})"
        add = text.format("nl.add", "1.0", "nl.add", "")
        self.expect("wrong-operator", text.format("nl.add", "1.0", "nl.subtract", ""), add)
        self.expect("wrong-operator", text.format("nl.bitwise_and", "1.0", "nl.add", ""), add)
        self.expect("wrong-engine", text.format("nl.rsqrt", "0.0", "nl.add", ""), add)
        self.expect("wrong-machine", text.format("nl.square", "0.0", "nl.add", ""),
                    text.format("nl.square", "0.0", "nl.add", ""), "trn2", "trn3")
        self.expect("wrong-operand", text.format("nl.abs", "1.0", "nl.add", ""), text.format("nl.abs", "0.0", "nl.add", ""))
        self.expect("wrong-operand", text.format("nl.add", "1.0", "nl.add", ", reverse0=True"), add)
        idle = ", reduce_cmd=nisa.reduce_cmd.{}"
        self.expect("wrong-operand", text.format("nl.add", "1.0", "nl.add", idle.format("idle")),
                    text.format("nl.add", "1.0", "nl.add", idle.format("reset_reduce")))
        load = ", reduce_cmd=nisa.reduce_cmd.load_reduce"
        self.expect("wrong-operand", text.format("nl.add", "1.0", "nl.add", load),
                    text.format("nl.add", "1.0", "nl.add", load + ", reduce_init=1.0"))
        self.expect("wrong-dtype", text.format("nl.add", "c", "nl.add", ""), text.format("nl.add", "t[0:128, 0:1]", "nl.add", ""))
        self.expect("wrong-operand", text.format("nl.add", "1.0", "nl.add", ", reduce_res=t[0:128, 0:2]"),
                    text.format("nl.add", "1.0", "nl.add", ", reduce_res=t[0:128, 0:1]"))

    def test_cumulative_has_no_words(self):
        text = "nisa.tensor_scalar_cumulative(dst=t, src={}, op0=nl.add, op1=nl.add, imm0=0.0)"
        self.expect("wrong-dtype", text.format("w"), text.format("t"))

    def test_select_and_range(self):
        array = "e = nl.ndarray((128, 64), dtype=nl.uint8, buffer=nl.sbuf)\nnisa.memset(dst=e, value=1)\n"
        select = array + "nisa.tensor_copy(dst=w, src=e)\nnisa.select_reduce(dst=t, predicate={}, on_true={}, on_false=0.0{})"
        self.expect("wrong-dtype", select.format("w", "t", ""), select.format("e", "t", ""))
        self.expect("wrong-dtype", select.format("e", "w", ""), select.format("e", "p", ""))
        result = ", reduce_res=t[0:128, 0:1], reduce_cmd=nisa.reduce_cmd.{}"
        self.expect("wrong-operand", select.format("e", "t", result.format("idle")),
                    select.format("e", "t", result.format("reset_reduce")))
        bounds = "nisa.range_select(dst=t, on_true_tile=t, comp_op0={}, comp_op1=nl.less, bound0={}, bound1=t[0:128, 1:2]{})"
        plain = bounds.format("nl.greater", "t[0:128, 0:1]", "")
        self.expect("wrong-machine", plain, plain, "trn1", "trn2")
        self.expect("wrong-operator", bounds.format("nl.not_equal", "t[0:128, 0:1]", ""), plain)
        self.expect("wrong-operand", bounds.format("nl.less", "t[0:128, 0:2]", ""), plain)
        self.expect("wrong-dtype", bounds.format("nl.less", "c", ""), plain)
        self.expect("wrong-operand", bounds.format("nl.less", "t[0:128, 0:1]", ", on_false_value=0.0"),
                    bounds.format("nl.less", "t[0:128, 0:1]", ", on_false_value=-3.4028234663852886e38"))

    def test_searches(self):
        self.expect("size", "nisa.max8(dst=t[0:128, 0:8], src=t[0:128, 0:7])", "nisa.max8(dst=t[0:128, 0:8], src=t[0:128, 0:8])")
        self.expect("size", "nisa.max8(dst=t[0:128, 0:9], src=t)", "nisa.max8(dst=t[0:128, 0:8], src=t)")
        find = "nisa.nc_find_index8(dst={}[0:128, 0:8], data=t, vals=t[0:128, 0:{}])"
        self.expect("size", find.format("w", 7), find.format("w", 8))
        self.expect("wrong-dtype", find.format("t", 8), find.format("w", 8))
        replace = "nisa.nc_match_replace8(dst=t, data=t, vals=t[0:128, 0:8], imm=0.0, dst_idx={}[0:128, 0:8])"
        self.expect("wrong-dtype", replace.format("t"), replace.format("w"))

    def test_nonzero_needs_trn2(self):
        text = ("e = nl.ndarray((128, 65), dtype=nl.int32, buffer=nl.sbuf)\nnisa.memset(dst=e, value=0)\n"
                "nisa.nonzero_with_count(dst=e, src=t)\nnisa.tensor_copy(dst=t, src=e[0:128, 0:64])")
        self.expect("wrong-machine", text, text, "trn1", "trn2")

    def test_memset_class(self):
        self.expect("memset-class", "nisa.memset(dst=t, value=0)", "nisa.memset(dst=t, value=0.0)")
        self.expect("memset-class", "nisa.memset(dst=w, value=0.0)", "nisa.memset(dst=w, value=0)")

    def test_indirect_needs_trn2(self):
        gather = "nisa.dma_copy(dst=t, src=x.ap(pattern=[[64, 128], [1, 64]], vector_offset=c, indirect_dim=0))"
        self.expect("indirect-machine", gather, gather, "trn1", "trn2")

    def test_wrong_dge(self):
        gather = "nisa.dma_copy(dst=t, src=x.ap(pattern=[[64, 128], [1, 64]], vector_offset=c, indirect_dim=0){})"
        self.expect("wrong-dge", gather.format(", dge_mode=nisa.dge_mode.hwdge"), gather.format(", dge_mode=nisa.dge_mode.swdge"))

    def test_partition_start(self):
        self.expect("partition-start", "nisa.tensor_copy(dst=t[16:48, 0:64], src=t[0:32, 0:64])",
                    "nisa.tensor_copy(dst=t[32:64, 0:64], src=t[0:32, 0:64])")

    def test_size(self):
        self.expect("size", "nisa.dma_copy(dst=t, src=x[0:128, 0:32])", "nisa.dma_copy(dst=t[0:128, 0:32], src=x[0:128, 0:32])")

    def test_index_out_of_range(self):
        loop = "for i in range({}):\n    nisa.dma_copy(dst=t[0:32, 0:64], src=x[nl.ds(i*32, 32), 0:64])"
        self.expect("illegal", loop.format(5), loop.format(4))

    def test_array_tile(self):
        text = "nisa.nc_matmul(dst=p[0:32, 0:64], stationary=t[0:32, 0:32], moving=t[0:32, 0:64], accumulate=False, {})"
        good = text.format("tile_position=(0, 0), tile_size=(32, 32)")
        for bad in ("tile_position=(0, 0)", "tile_size=(32, 32), tile_position=(16, 0)", "tile_position=(0, 0), tile_size=(48, 32)",
                    "tile_position=(32, 0), tile_size=(32, 32)", "tile_position=(0, 32), tile_size=(32, 32)"):
            self.expect("array-tile", text.format(bad), good)
        self.expect("array-tile", good, text.format("tile_position=(0, 0), tile_size=(64, 64)"), machine="trn1")

    def test_mx_layout(self):
        text = textwrap.dedent("""
            h = nl.ndarray((64, 64), dtype=nl.bfloat16, buffer=nl.sbuf)
            z = nl.ndarray((64, 16), dtype=nl.uint32, buffer=nl.sbuf)
            s = nl.ndarray((64, 16), dtype=nl.uint8, buffer=nl.sbuf)
            nisa.tensor_copy(dst=h, src=t[0:64, 0:64])
            nisa.quantize_mx(dst=z.view(nl.float8_e4m3fn_x4), src=h, dst_scale=s[{}, 0:16])
            nisa.tensor_copy(dst=w[0:64, 0:16], src=z)
            nisa.tensor_copy(dst=w[0:64, 0:16], src=s)""")
        for bad in ("2:62", "16:64", "0:32"):
            self.expect("mx-layout", text.format(bad), text.format("4:64"), machine="trn3")
        self.expect("wrong-machine", text.format("4:64"), text.format("4:64"), good_machine="trn3")

    def test_exponential(self):
        text = "nisa.exponential(dst=t, src=t, {})"
        self.expect("wrong-operator", text.format("reduce_cmd=nisa.reduce_cmd.reset"),
                    text.format("reduce_cmd=nisa.reduce_cmd.reset_reduce"), machine="trn3")
        self.expect("wrong-operand", text.format("reduce_init=1.0"),
                    text.format("reduce_init=1.0, reduce_cmd=nisa.reduce_cmd.load_reduce"), machine="trn3")

    def test_never_read(self):
        unread = "e = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_transpose(dst=e[0:64, 0:128], data=t)"
        self.expect("never-read", unread, unread + "\nnisa.tensor_copy(dst=t[0:64, 0:64], src=e[0:64, 0:64])")

    def test_one_of_two_results_read(self):
        both = ("e = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)\ns = nl.ndarray((128, 1), dtype=nl.float32, "
                "buffer=nl.sbuf)\nnisa.activation(dst=e, op=nl.copy, data=t, reduce_op=nl.add, reduce_res=s)")
        for result in ("e[0:128, 0:1]", "s"):
            self.expect("never-read", both, both + f"\nnisa.tensor_copy(dst=t[0:128, 0:1], src={result})")

    def test_register(self):
        loop = ("def body(i):\n    nisa.dma_copy(dst=t[0:32, 0:64], src={})\n"
                "nl.fori_loop(0, 128, body, step=32)")
        self.expect("register", loop.format("x[nl.ds(i, 32), 0:64]"),
                    loop.format("x.ap(pattern=[[64, 32], [1, 64]], scalar_offset=i)"))

    def test_registers(self):
        body = "n = nisa.register_alloc()\nnisa.register_load(dst=n, src={})\nnisa.register_store(dst=w[0:1, 0:1], src=n)"
        self.expect("wrong-operand", body.format("c[0:2, 0:1]"), body.format("c[0:1, 0:1]"))
        self.expect("wrong-dtype", body.format("t[0:1, 0:1]"), body.format("c[32:33, 0:1]"))
        self.expect("wrong-space", body.format("p[0:1, 0:1]"), body.format("r[5:6, 0:1]"))
        move = "n = nisa.register_alloc()\nnisa.register_move(dst=n, src={})\nnisa.register_store(dst=w[0:1, 0:1], src=n)"
        self.expect("register", move.format("2.0"), move.format("2"))

    def test_while_loop(self):
        loop = ("n = nisa.register_alloc(1)\ndef body(n):\n    nisa.register_load(dst=n, src=c[0:1, 0:1])\n    {}\n"
                "nl.while_loop(n, body)")
        self.expect("illegal", loop.format("pass"), loop.format("return n"))

    def test_scalar_offset_from_a_tile(self):
        copy = "nisa.dma_copy(dst=t[0:32, 0:64], src=x.ap(pattern=[[64, 32], [1, 64]], scalar_offset={}, indirect_dim=0))"
        self.expect("illegal", copy.format("c[0:2, 0:1]"), copy.format("c[0:1, 0:1]"))

    def test_adding_dma(self):
        self.expect("size", "nisa.dma_compute(dst=t, srcs=[t, x[0:128, 0:32]], reduce_op=nl.add)",
                    "nisa.dma_compute(dst=t, srcs=[t, x], reduce_op=nl.add)")
        self.expect("wrong-operator", "nisa.dma_compute(dst=t, srcs=[t, x], reduce_op=nl.maximum)",
                    "nisa.dma_compute(dst=t, srcs=[t, x], reduce_op=nl.add, scales=[1.0, 1.0])")
        self.expect("wrong-operand", "nisa.dma_compute(dst=t, srcs=[t, x], reduce_op=nl.add, scales=[1.0, 2.0])",
                    "nisa.dma_compute(dst=t, srcs=[t, x, x], reduce_op=nl.add)")
        rows = "nisa.dma_compute(dst=t, srcs=[{}, x.ap(pattern=[[64, 128], [1, 64]], vector_offset=c, indirect_dim=0)], reduce_op=nl.add)"
        self.expect("wrong-operand", rows.format("x"), rows.format("t"))
        self.expect("indirect-machine", rows.format("t"), rows.format("t"), "trn1", "trn2")

    def test_shuffle_mask(self):
        shuffle = "nisa.nc_stream_shuffle(dst=t, src=p, shuffle_mask={})"
        self.expect("wrong-operand", shuffle.format([0] * 31), shuffle.format([255] + [5] * 31))
        self.expect("wrong-operand", shuffle.format([32] * 32), shuffle.format([31] * 32))


class Emitted(unittest.TestCase):
    """What check_emitted.py takes for the name of an operation, and for its word that it has no program."""

    def test_names_of_three_parts(self):
        self.assertEqual(check_emitted.names_in("  blas.gemm          C\n  sparse.attention.backward  D\n  --help x\n"),
                         ["blas.gemm", "sparse.attention.backward"])

    def test_only_the_refusal_counts(self):
        said = "trnsci: blas.rotg: {}\n"
        for good in ("has no device kernel; it runs on the host", "has no device kernel for fp64; it runs on the host",
                     "works on the caller's own numbers; it has no device kernel"):
            self.assertTrue(check_emitted.refused("blas.rotg", said.format(good)), good)
            self.assertFalse(check_emitted.refused("blas.rot", said.format(good)), good)
        for bad in ("host memory is used up", "internal error: no device program", "has no device kernel; it runs on the host; sorry"):
            self.assertFalse(check_emitted.refused("blas.rotg", said.format(bad)), bad)


if __name__ == "__main__":
    unittest.main()
