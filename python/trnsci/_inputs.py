"""What becomes of operands that the extension cannot use where they lie.

Lists, integers, booleans, float16, arrays that are not aligned, of the other byte order or fields of a record are
converted once. What would lose digits or has no meaning here is refused with a sentence: longdouble, object, text.
"""
from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_RANK = 64


def integer(x: Any, operation: str, name: str, low: int = 0, high: int = 2**64 - 1) -> int:
    """x as an integer in low .. high; a float counts where it is a whole number."""
    if isinstance(x, (float, np.floating)) and float(x).is_integer():
        x = int(x)
    try:
        value = operator.index(x)
    except TypeError:
        if isinstance(x, (float, np.floating)):
            raise ValueError(f"{operation}: {name} is {x}; it must be an integer") from None
        raise TypeError(f"{operation}: {name} is a {type(x).__name__}; it must be an integer") from None
    if not low <= value <= high:
        raise ValueError(f"{operation}: {name} is {value}; it must be in {low} .. {high}")
    return value


def depth_of_list(x: Any) -> int:
    depth = 0
    while isinstance(x, (list, tuple)) and len(x) > 0:
        depth += 1
        x = x[0]
    return depth


def as_array(x: Any, operation: str, name: str) -> NDArray[Any]:
    """x as an array of NumPy's, of any type."""
    if isinstance(x, np.ndarray):
        return x
    if depth_of_list(x) > MAX_RANK:
        raise ValueError(f"{operation}: {name} has {depth_of_list(x)} dimensions; at most {MAX_RANK} are possible")
    try:
        return np.asarray(x)
    except ValueError as trouble:
        raise ValueError(f"{operation}: {name} is not an array: {trouble}") from None


def as_float32(x: Any, operation: str, name: str) -> Any:
    """Numbers, lists and arrays of integers as float32, where an operation has no wider type; everything else as it is."""
    if isinstance(x, np.ndarray) and x.dtype.kind not in "biu" or not isinstance(x, (np.ndarray, list, tuple, int, float)):
        return x
    array = as_array(x, operation, name)
    with np.errstate(over="ignore"):  # beyond float32 is beyond what is stored
        return array.astype(np.float32) if array.dtype.kind in "biuf" and array.dtype.char != "g" else array


def target_type(dtype: np.dtype[Any], letters: str) -> str | None:
    """The letter of the type that dtype is converted to, or None."""
    plain = dtype.newbyteorder("=")
    if plain.char in letters:
        return plain.char
    for letter in letters:  # the same type under another name: 'q' and 'l' on Linux
        if np.dtype(letter) == plain:
            return letter
    if plain.kind in "biu":
        order = "dDfFlLiI" if "d" in letters or "D" in letters else "lLiI"
        for letter in order:
            if letter in letters and np.can_cast(plain, letter, "safe" if letter in "lLiI" else "same_kind"):
                return letter
        return None
    if plain.kind == "f" and plain.itemsize <= 8:
        for letter in ("fF" if plain.itemsize <= 4 else "dD"):
            if letter in letters:
                return letter
        return "d" if "d" in letters else "D" if "D" in letters else None
    if plain.kind == "c" and plain.itemsize <= 16 and "D" in letters:
        return "D"
    return None


def prepare(x: Any, operation: str, name: str, letters: str) -> NDArray[Any]:
    """x as an aligned array in this machine's byte order, of one of the types in `letters` (NumPy's type codes)."""
    array = as_array(x, operation, name)
    dtype = array.dtype
    if dtype.kind == "O":
        raise TypeError(f"{operation}: {name} is an array of Python objects; convert it to numbers, for example with .astype(float)")
    if dtype.char in "gG":
        raise TypeError(f"{operation}: {name} has type {dtype}, of which no library here keeps all digits; convert it to float64 or complex128 first")
    if dtype.kind not in "biufc":
        raise TypeError(f"{operation}: {name} has type {dtype}, which is not a number")
    letter = target_type(dtype, letters)
    if letter is None:
        wanted = ", ".join(np.dtype(c).name for c in letters)
        if dtype.kind == "c" and not set(letters) & set("FD"):
            raise TypeError(f"{operation}: {name} must be real; it has type {dtype}. Accepted: {wanted}")
        raise TypeError(f"{operation}: {name} has type {dtype}. Accepted: {wanted}")
    return np.require(array, dtype=np.dtype(letter), requirements=["A"]) if fits(array) else np.array(array, dtype=np.dtype(letter), order="C")


def fits(array: NDArray[Any]) -> bool:
    """Every stride is a whole number of elements, which a field of a record need not have."""
    return all(stride % array.itemsize == 0 for stride in array.strides)
