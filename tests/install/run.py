#!/usr/bin/env python3
"""Installs to a scratch prefix, moves it, and builds and runs programs that know the new place only.

    run.py BUILD SOURCE SCRATCH
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TRN_", "LD_", "CUDA"))} | settings
    found = subprocess.run([str(c) for c in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if found.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{found.stdout}\nended with {found.returncode}")
    return found.stdout


def expect(what, output, wanted):
    if wanted not in output:
        sys.exit(f"{what}: expected {wanted!r} in {output!r}")
    print(f"{what}: {output.strip()}")


def cmake(source, build, *options, target="all"):
    begin = time.monotonic()
    configured = run("cmake", "-S", source, "-B", build, "-G", "Ninja", *options)
    middle = time.monotonic()
    run("cmake", "--build", build, "--target", target)
    print(f"{source.name}: configured in {middle - begin:.1f} s, compiled in {time.monotonic() - middle:.1f} s")
    return configured


def tree(prefix):
    """Everything that other tools rely on is there, and no file holds the path it was installed to."""
    for name in ("bin/trncc", "bin/trnsci", "lib/libtrnsci.so.0", "lib/libtrnblas.so", "lib/trnsci/cuda/include/cublas_v2.h",
                 "lib/trnsci/cuda/lib64/libcublas.so", "lib/trnsci/cuda/version.txt", "lib/cmake/trnsci/trnsciConfig.cmake",
                 "lib/pkgconfig/trnsci.pc", "lib/pkgconfig/trnblas.pc", "lib/trnsci/dropin/libblas.so.3",
                 "lib/trnsci/dropin/liblapack.so.3", "lib/trnsci/dropin/libfftw3.so.3", "lib/trnsci/dropin/libfftw3f_omp.so.3", "lib/trnsci/dropin/libtapp.so", "include/trn/trn.hpp", "include/trnblas.h"):
        if not (prefix / name).exists():
            sys.exit(f"{name} was not installed, or leads nowhere")


def main():
    build, source, scratch = map(pathlib.Path, sys.argv[1:4])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    run("cmake", "--install", build, "--prefix", scratch / "first")
    prefix = scratch / "moved"
    (scratch / "first").rename(prefix)
    tree(prefix)
    held = subprocess.run(["grep", "-rIl", "-e", str(scratch / "first"), "-e", str(build), prefix], capture_output=True, text=True).stdout
    if held:
        sys.exit(f"these files hold a path of the machine that built them:\n{held}")

    cmake(HERE / "cpp", scratch / "cpp", f"-DCMAKE_PREFIX_PATH={prefix}")
    expect("C++, find_package", run(scratch / "cpp" / "consumer"), "host: 30 4 6627e8d5\nsim:trn2: 30 4 6627e8d5\n")

    where = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "trnblas", "trnfft", "trnrand", "trnsolver", **where).split()
    run("gcc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", HERE / "c/main.c", "-o", scratch / "c_consumer", *flags)
    expect("C, pkg-config", run(scratch / "c_consumer", LD_LIBRARY_PATH=str(prefix / "lib")), "30\n")

    program = HERE / "cudatoolkit/main.cu"
    run(prefix / "bin/trncc", "-std=c++17", "-arch=sm_90", "-O1", "-Xcompiler", "-Wall", program, "-o", scratch / "trncc_consumer",
        "-lcublas", "-lcufft", "-lcurand", "-lcusolver", "-rdc", "true", "-Xfatbin", "-compress-all", "--fmad=false", "-ftz=true", "-keep")
    expect("CUDA's names, trncc", run(scratch / "trncc_consumer"), "30\n")
    expect("the same on a simulator", run(scratch / "trncc_consumer", TRN_EXECUTOR="sim:trn2"), "30\n")

    configured = cmake(HERE / "cudatoolkit", scratch / "toolkit", f"-DCUDAToolkit_ROOT={prefix / 'lib/trnsci/cuda'}")
    expect("CUDA's names, CUDAToolkit", configured, f"toolkit 13.0.0 in {prefix / 'lib/trnsci/cuda/lib64'}")
    expect("CUDA's names, CUDAToolkit", run(scratch / "toolkit/consumer"), "30\n")

    expect("drop-in", run(sys.executable, "-c", "import numpy as n; a = n.ones((30, 30)); print((a @ a)[0, 0])", TRN_REPORT="1",
                          LD_LIBRARY_PATH=str(prefix / "lib/trnsci/dropin")), "trnblas: host served")

    # As a part of another project. Of the random numbers only the file that needs rand/data is compiled.
    cmake(HERE / "outside", scratch / "outside", f"-DTRNSCI={source}", "-DTRN_UNITY=ON", "-DPKG_CONFIG_EXECUTABLE=" + shutil.which("pkg-config"),
          target="outside")
    expect("add_subdirectory", run(scratch / "outside/outside"), "host: 21, 4 3\narray: 5 values for shape (2, 3), which holds 6;")
    run("cmake", "--build", scratch / "outside", "--target", "trnsci/CMakeFiles/trn_rand.dir/rand/src/directions.cpp.o")
    # The libraries, the C API and the drop-ins need no packages of tests and tools.
    run("cmake", "-S", source, "-B", scratch / "libraries", "-G", "Ninja", "-DTRN_TESTS=OFF", "-DTRN_TOOLS=OFF",
        "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON")
    shutil.rmtree(scratch)
    print("all consumers run")


main()
