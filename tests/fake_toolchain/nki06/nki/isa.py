"""Stands for nki.isa: kernels are parsed by the compiler, never executed here."""
