"""What a wheel may need of a system. python/wheel.py builds and tries whole ones; here its looks are tried on the extension that is there."""
import importlib.util
import pathlib
import shutil

import trnsci

SPEC = importlib.util.spec_from_file_location("wheel", pathlib.Path(__file__).resolve().parents[1] / "wheel.py")
wheel = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(wheel)

# The system's libraries that the extensions are linked with; auditwheel copies them into a wheel. OpenBLAS is not among them: it is inside.
COPIED = {"libfmt.so.9", "libhwy.so.1", "libgomp.so.1", "libgfortran.so.5", "libquadmath.so.0", "libmetis.so.5", "libint2.so.2"}


def extensions():
    return sorted(p.resolve() for p in pathlib.Path(trnsci.__file__).parent.glob("_*.so"))


def test_the_extensions_need_what_a_wheel_brings():
    assert extensions()
    for path in extensions():
        wanted = {n for n in wheel.needed(path) if not wheel.PROMISED.match(n)}
        assert wanted <= COPIED and ("libint2.so.2" in wanted) == path.name.startswith("_mp2.")


def test_nothing_of_openblas_can_be_seen():
    for path in extensions():
        names = [n for n in wheel.exported(path) if not n.startswith(("PyInit_", "_init", "_fini"))]
        assert not names  # not dgemm_, nor openblas_set_num_threads: NumPy's own stays apart


def test_faults_are_found(tmp_path):
    package = tmp_path / "trnsci"
    package.mkdir()
    assert wheel.findings(tmp_path) == ["there is no extension"]
    for path in extensions():
        shutil.copy(path, package)
    assert all(" needs " in f for f in wheel.findings(tmp_path))
    missing = [f.split(" needs ")[1] for f in wheel.findings(tmp_path)]
    assert {"libfmt.so.9", "libhwy.so.1", "libgomp.so.1"} <= set(missing)
    (tmp_path / "trnsci_cpp.libs").mkdir()
    for name in set(missing):  # any shared object that has the name and needs nothing stands for it
        found = next(p for p in pathlib.Path("/usr/lib").rglob("libm.so.6") if p.exists())
        shutil.copy(found.resolve(), tmp_path / "trnsci_cpp.libs" / name)
    assert wheel.findings(tmp_path) == []
    shutil.copy(tmp_path / "trnsci_cpp.libs" / missing[0], package / "_more.so")
    assert any(f.startswith("_more.so exports ") for f in wheel.findings(tmp_path))


def test_strangers_among_what_is_mapped():
    maps = "energy\nmapped /x/libopenblas.so.0\nmapped /lib/libstdc++.so.6.0.30\nmapped /usr/lib/libc.so.6\nmapped /lib64/ld-linux-x86-64.so.2\n"
    assert wheel.strangers(maps) == ["/x/libopenblas.so.0"]
