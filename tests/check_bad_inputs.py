#!/usr/bin/env python3
"""Bad inputs of the trnsci command: each gets one line on standard error and its status.

    check_bad_inputs.py TRNSCI            runs the cases of bad_inputs.txt beside this file
    check_bad_inputs.py TRNSCI --show     prints each case with what the command says, to write the expected texts

A case is "STATUS | ARGUMENTS | TEXT", the arguments as a shell splits them, {dir} for a folder with the damaged files
that this script writes. Standard error must hold exactly one line, "trnsci: ..." with TEXT in it, in printable ASCII,
without the name of a C++ exception; standard output must be empty.
"""
import concurrent.futures
import io
import os
import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile
import zipfile



def npz(indices=0, offsets=(0, 1, 1), format=b"csr", shape=(2, 2)):
    """SciPy's archive of a matrix with one entry."""
    def array(kind, extents, content):
        head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {extents}, }}".encode()
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + content

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in (("indices", array("<i4", "(1,)", struct.pack("<i", indices))), ("format", array("|S3", "()", format)),
                              ("indptr", array("<i4", "(3,)", struct.pack("<3i", *offsets))),
                              ("shape", array("<i8", "(2,)", struct.pack("<2q", *shape))),
                              ("data", array("<f8", "(1,)", struct.pack("<d", 1.0)))):
            archive.writestr(zipfile.ZipInfo(name + ".npy"), content)
    return out.getvalue()


FILES = {
    "empty.xyz": b"",
    "junk.xyz": bytes(range(256)) * 4,
    "count.xyz": b"three\nwater\nO 0 0 0\n",
    "short.xyz": b"3\nwater\nO 0 0 0\nH 0 0 1\n",
    "element.xyz": b"1\nx\nQq 0 0 0\n",
    "number.xyz": b"1\nx\nHe 0 zero 0\n",
    "nan.xyz": b"1\nx\nHe 0 nan 0\n",
    "twice.xyz": b"2\nx\nHe 0 0 0\nHe 0 0 0\n",
    "negative.xyz": b"-1\nx\n",
    "huge.xyz": b"99999999999999999999\nx\n",
    "helium.xyz": b"1\nhelium\nHe 0 0 0\n",
    "hydrogen.xyz": b"1\none electron\nH 0 0 0\n",
    "bad.gbs": b"****\nHe 0\nS 1 1.0\n  one 1.0\n****\n",
    "empty.gbs": b"",
    "empty.mtx": b"",
    "junk.mtx": bytes(range(256)) * 4,
    "header.mtx": b"%%MatrixMarket matrix nothing real general\n1 1 1\n1 1 1\n",
    "outside.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n",
    "zero.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1.0\n",
    "few.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.0\n",
    "word.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 one\n",
    "huge.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 9000000000000000000\n1 1 1\n",
    "negative.mtx": b"%%MatrixMarket matrix coordinate real general\n-2 2 1\n1 1 1\n",
    "good.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 2 1.0\n",
    "wide.mtx": b"%%MatrixMarket matrix coordinate real general\n1 100000000000 1\n1 5 1.0\n",
    "far.xyz": b"2\nx\nHe 0 0 0\nHe 0 0 1e308\n",
    "nan.json": b'{"a": NaN}',
    "cut.json": b'{"format": "trnsci tile program", "ver',
    "junk.npz": b"PK\x03\x04junk",
    "empty.json": b"",
    "junk.json": b"{]",
    "array.json": b"[1, 2, 3]",
    "object.json": b"{}",
    "line.txt": b"blas.gemm --m 8 --n 8 --k 8\n",
    "lines.txt": b"# programs\nblas.gemm --m 8 --n 8 --k 8\nblas.gmem --m 8\n",
    "option.txt": b"blas.gemm --mm 8\n",
    "saved.txt": b"file object.json\n",
    "unnamed.txt": b"file  \n",
    "section.json": b'{"format": 1, "sections": [1]}',
    "kernels.json": b'{"format": 1, "sections": [{"name": "time", "status": "ok", "kernels": 3}]}',
    "utf16.xyz": "1\nx\nHe 0 0 0\n".encode("utf-16"),
    "zero_byte.xyz": b"1\nx\nHe 0 0 0\0\n",
    "atomic_number.xyz": b"1\nx\n2 0 0 0\n",
    "comma.xyz": b"1\nx\nHe 0,0 0,0 0,0\n",
    "extra.xyz": b"1\nx\nHe 0 0 0\nHe 0 0 5\n",
    "power.xyz": b"1e3\nx\nHe 0 0 0\n",
    "hexadecimal.xyz": b"1\nx\nHe 0x10 0 0\n",
    "million.xyz": b"1000000\nx\nHe 0 0 0\n",
    "symbol.xyz": b"1\nx\n" + 100000 * b"H" + b" 0 0 0\n",
    "escape.xyz": b"1\nx\n\x1b[31mHe 0 0 0\n",
    "no_comment.xyz": b"1\nHe 0 0 0\n",
    "negative.gbs": b"****\nHe 0\nS 1 1.0\n -1.0 1.0\n****\n",
    "large.gbs": b"****\nHe 0\nS 1 1.0\n 1e308 1.0\n****\n",
    "nothing.gbs": b"****\nHe 0\nS 1 1.0\n 1.0 0.0\n****\n",
    "letter.gbs": b"****\nHe 0\nZ 1 1.0\n 1.0 1.0\n****\n",
    "long.gbs": b"****\nHe 0\nS 100000 1.0\n 1.0 1.0\n****\n",
    "cut.gbs": b"****\nHe 0\nS 2 1.0\n 1.0 1.0\n****\n",
    "other.gbs": b"****\nH 0\nS 1 1.0\n 1.0 1.0\n****\n",
    "open.gbs": b"****\nHe 0\nS 1 1.0\n 1.0 1.0\n",
    "infinite.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1e400\n",
    "fraction.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 1\n",
    "more.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n2 2 1\n",
    "fourth.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1 7\n",
    "oblong.mtx": b"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n",
    "array.mtx": b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
    "pattern.mtx": b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 5\n",
    "hermitian.mtx": b"%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n1 1 1 1\n",
    "integer.mtx": b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n",
    "skew.mtx": b"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n",
    "rows.mtx": b"%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 1\n1 1 1\n",
    "hexadecimal.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0x1p3\n",
    "places.mtx": b"%%MatrixMarket matrix array real general\n100000 100000\n1\n",
    "vector.mtx": b"%%MatrixMarket matrix vector real general\n2 2 1\n1 1 1\n",
    "title.rb": b"title\n 1 2 3\n",
    "junk.rb": 1000 * b"\xff",
    "index.npz": npz(indices=5),
    "offsets.npz": npz(offsets=(0, 5, 1)),
    "format.npz": npz(format=b"xyz"),
    "extents.npz": npz(shape=(-2, 2)),
    "range.json": b'{"seconds": 1e400}',
    "bytes.json": b'{"a": "\xff\xfe"}',
    "two.json": b'{"a": 1} {"b": 2}',
    "text.json": b'"text"',
    "number.json": b'{"seconds": 1}',
}
NEVER = ["std::", "json.exception", "bad_alloc", "terminate", "what():", "basic_string", "vector::", "stoi", "stod",
         "CLI::", "Assertion"]


def cases():
    for number, line in enumerate(open(pathlib.Path(__file__).with_name("bad_inputs.txt"), encoding="utf-8"), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            status, arguments, text = (part.strip() for part in line.split(" | ", 2))
            yield number, int(status), arguments, text


def run(program, folder, arguments):
    words = [word.encode().replace(b"{dir}", folder.encode()) for word in shlex.split(arguments)]
    for text, byte in ((b"\\xff", b"\xff"), (b"\\x1b", b"\x1b")):
        words = [word.replace(text, byte) for word in words]
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    return subprocess.run([os.path.abspath(program).encode(), *words], cwd=folder, capture_output=True, timeout=300,
                          stdin=subprocess.DEVNULL, env=environment, check=False)


def verdict(result, folder, status, text):
    error = result.stderr
    if result.returncode != status:
        return f"status {result.returncode} instead of {status}"
    if not error.startswith(b"trnsci: ") or error.count(b"\n") != 1 or not error.endswith(b"\n"):
        return "not one line 'trnsci: ...'"
    if any(byte < 32 or byte > 126 for byte in error[:-1]):
        return "bytes that are not printable"
    if text.replace("{dir}", folder).encode() not in error:
        return f"lacks '{text}'"
    found = [word for word in NEVER if word.encode() in error]
    if found:
        return f"speaks of '{found[0]}'"
    return "standard output is not empty" if result.stdout else ""


def main():
    program, show = sys.argv[1], "--show" in sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, content in FILES.items():
            pathlib.Path(folder, name).write_bytes(content)
        listed = list(cases())
        results = list(pool.map(lambda case: run(program, folder, case[2]), listed))
        wrong = 0
        for (number, status, arguments, text), result in zip(listed, results):
            complaint = verdict(result, folder, status, text)
            if show:
                print(f"{result.returncode} | {arguments} | {result.stderr.decode(errors='replace').strip()}")
            elif complaint:
                wrong += 1
                print(f"bad_inputs.txt:{number}: {arguments}: {complaint}\n  {result.stderr!r}")
        left = [name for name in os.listdir(folder) if name not in FILES]
        if left:
            wrong += 1
            print("files were left behind:", *left)
    if not show:
        print(f"{len(listed)} bad inputs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
