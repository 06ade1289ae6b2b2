"""Stands for nki 0.6: the device-free interface of nki.compiler."""


def jit(function):
    return function
