"""Searches in the rows of float32 arrays: the largest values, and places of values. A place of -1 means none."""

import numpy as np


def largest(x, count):
    """The `count` largest of each row, largest first; NaN before every number, equal ones in the order they stand."""
    order = np.lexsort((-x, ~np.isnan(x)))
    return np.take_along_axis(x, order[:, :count], axis=1)


def find(x, values):
    """Places of values in x: the k-th of equal values in a row gets their k-th place."""
    places = np.full(values.shape, -1, np.int64)
    for row, wanted, out in zip(x, values, places):
        for j, value in enumerate(wanted):
            matches = np.flatnonzero(row == value)
            k = np.count_nonzero(wanted[:j] == value)
            if k < len(matches):
                out[j] = matches[k]
    return places


def match(x, values):
    """Places of values in x, the last value first; each takes the first place that no other took."""
    places = np.full(values.shape, -1, np.int64)
    for row, wanted, out in zip(x, values, places):
        free = np.ones(len(row), bool)
        for j in reversed(range(len(wanted))):
            matches = np.flatnonzero(free & (row == wanted[j]))
            if len(matches):
                out[j] = matches[0]
                free[matches[0]] = False
    return places
