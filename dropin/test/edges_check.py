"""Edges of the drop-in BLAS on each executor: alpha = 0 and k = 0 with null operands, columns that ger must leave alone, and targets that cannot be met.

edges_check.py LIBRARY

Each part runs in a process of its own, because the environment is read once.
"""
import ctypes
import math
import os
import subprocess
import sys

INT, DOUBLE, FLOAT = ctypes.c_int, ctypes.c_double, ctypes.c_float


def char(letter):
    return ctypes.c_char_p(letter.encode())


def ref(kind, value):
    return ctypes.byref(kind(value))


def array(kind, values):
    return (kind * len(values))(*values)


def null_operands(blas):
    """C = beta C without a look at A and B, also where they are C itself."""
    for kind, p in ((FLOAT, "s"), (DOUBLE, "d")):
        for m, n, k, alpha in ((2, 3, 4, 0), (2, 3, 0, 1)):
            for operand in (None, "c"):
                c = array(kind, [1, 2, 3, 4, 5, 6])
                a = c if operand else None
                getattr(blas, p + "gemm_")(char("N"), char("T"), ref(INT, m), ref(INT, n), ref(INT, k), ref(kind, alpha), a, ref(INT, 4), a, ref(INT, 4),
                                           ref(kind, -2), c, ref(INT, 2))
                assert list(c) == [-2, -4, -6, -8, -10, -12], list(c)
        c = array(kind, [1, 2, 3, 4])
        getattr(blas, p + "symm_")(char("L"), char("U"), ref(INT, 2), ref(INT, 2), ref(kind, 0), None, ref(INT, 2), None, ref(INT, 2), ref(kind, 3), c, ref(INT, 2))
        assert list(c) == [3, 6, 9, 12], list(c)
        c = array(kind, [1, 2, 3, 4])
        getattr(blas, p + "syrk_")(char("U"), char("N"), ref(INT, 2), ref(INT, 5), ref(kind, 0), None, ref(INT, 2), ref(kind, 3), c, ref(INT, 2))
        assert list(c) == [3, 2, 9, 12], list(c)
        c = array(kind, [1, 2, 3, 4])
        getattr(blas, p + "syr2k_")(char("L"), char("T"), ref(INT, 2), ref(INT, 5), ref(kind, 0), None, ref(INT, 5), None, ref(INT, 5), ref(kind, 0), c, ref(INT, 2))
        assert list(c) == [0, 0, 3, 0], list(c)
        for name in ("trmm_", "trsm_"):
            c = array(kind, [1, math.nan, 3, 4])
            getattr(blas, p + name)(char("L"), char("U"), char("N"), char("N"), ref(INT, 2), ref(INT, 2), ref(kind, 0), None, ref(INT, 2), c, ref(INT, 2))
            assert list(c) == [0, 0, 0, 0], list(c)
        y = array(kind, [1, 2, 3])
        getattr(blas, p + "gemv_")(char("T"), ref(INT, 2), ref(INT, 3), ref(kind, 0), None, ref(INT, 2), None, ref(INT, 1), ref(kind, 2), y, ref(INT, -1))
        assert list(y) == [2, 4, 6], list(y)
        getattr(blas, p + "symv_")(char("U"), ref(INT, 3), ref(kind, 0), None, ref(INT, 3), None, ref(INT, 1), ref(kind, 0), y, ref(INT, 1))
        assert list(y) == [0, 0, 0], list(y)


def zero_columns(blas):
    """A column whose element of y is zero stays, although x is not finite; row-major: a row, by x."""
    for kind, p in ((FLOAT, "s"), (DOUBLE, "d")):
        a = array(kind, [1, 2, 3, 4])
        getattr(blas, p + "ger_")(ref(INT, 2), ref(INT, 2), ref(kind, 1), array(kind, [math.inf, 1]), ref(INT, 1), array(kind, [0, 1]), ref(INT, 1), a, ref(INT, 2))
        assert list(a) == [1, 2, math.inf, 5], list(a)
        a = array(kind, [1, 2, 3, 4])
        call = getattr(blas, "cblas_" + p + "ger")
        call(INT(101), INT(2), INT(2), kind(1), array(kind, [0, 1]), INT(1), array(kind, [math.nan, 1]), INT(1), a, INT(2))
        assert list(a)[:2] == [1, 2] and math.isnan(a[2]) and a[3] == 5, list(a)


def multiply(blas, name):
    """A product or a solve, a reduction, of single precision."""
    a, b = array(FLOAT, [1, 0.5, 0, 2]), array(FLOAT, [1.1, 2, 3, 4])
    if name == "gemm":
        blas.sgemm_(char("N"), char("N"), ref(INT, 2), ref(INT, 2), ref(INT, 2), ref(FLOAT, 1), a, ref(INT, 2), b, ref(INT, 2), ref(FLOAT, 0),
                    array(FLOAT, [0] * 4), ref(INT, 2))
    elif name == "syr2k":
        blas.ssyr2k_(char("L"), char("N"), ref(INT, 2), ref(INT, 2), ref(FLOAT, 1), a, ref(INT, 2), b, ref(INT, 2), ref(FLOAT, 0), array(FLOAT, [0] * 4), ref(INT, 2))
    elif name == "dot":
        blas.sdot_.restype = FLOAT
        blas.sdot_(ref(INT, 4), a, ref(INT, 1), b, ref(INT, 1))
    else:
        getattr(blas, "s" + name + "_")(char("L"), char("L"), char("N"), char("N"), ref(INT, 2), ref(INT, 2), ref(FLOAT, 1), a, ref(INT, 2), b, ref(INT, 2))


PARTS = {"null_operands": null_operands, "zero_columns": zero_columns}
PRODUCTS = ("gemm", "syr2k", "trmm", "trsm", "dot")


def part(library, name):
    blas = ctypes.CDLL(library)
    if name in PARTS:
        PARTS[name](blas)
    else:
        multiply(blas, name)
    print("fine")


def run(library, name, executor, precision):
    environment = dict(os.environ, TRN_EXECUTOR=executor, TRN_PRECISION=precision)
    return subprocess.run([sys.executable, __file__, library, name], env=environment, capture_output=True, text=True)


def main():
    library = sys.argv[1]
    if len(sys.argv) > 2:
        return part(library, sys.argv[2])
    for executor, precision in (("host", "native"), ("host", "exact"), ("sim:trn2", "exact"), ("sim:trn2", "native"), ("host", "target=1e-5"), ("sim:trn2", "target=1e-5")):
        for name in PARTS:
            result = run(library, name, executor, precision)
            assert result.stdout == "fine\n", (executor, precision, name, result.stderr)
    for executor in ("host", "sim:trn2"):
        for name in PRODUCTS:
            result = run(library, name, executor, "target=1e-3")
            assert result.stdout == "fine\n", (executor, name, result.stderr)
            # No mode gives a float an error of 1e-9: the program ends and says so.
            result = run(library, name, executor, "target=1e-9")
            assert result.returncode != 0 and "trnblas: blas." in result.stderr and "1e-09" in result.stderr, (executor, name, result.returncode, result.stderr)
    print("edges agree")


if __name__ == "__main__":
    main()
