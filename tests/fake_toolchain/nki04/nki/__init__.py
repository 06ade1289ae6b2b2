"""Stands for nki 0.4: ParserFrontend.compile and CompiledKernel.from_frontend."""


def jit(function):
    return function
