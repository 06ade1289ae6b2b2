"""Executors, device arrays and records: what all libraries share."""
from __future__ import annotations

import contextlib
import contextvars
import html as _html
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _docs, _glossary, _trnsci
from ._inputs import as_array, prepare
from ._trnsci import Accuracy, Array, DeviceError, Event, Executor

ExecutorLike = Executor | str | None

_current: contextvars.ContextVar[Executor | None] = contextvars.ContextVar("trnsci.executor", default=None)
_named: dict[str, Executor] = {}
_named_lock = threading.Lock()


def executor_named(name: Any) -> Executor:
    """The process's executor of this name, opened at the first request."""
    if not isinstance(name, str):
        raise TypeError(f"executor must be a trnsci.Executor, a name such as 'sim:trn2', or None; it is {type(name).__name__}")
    with _named_lock:
        if name not in _named:
            _named[name] = Executor(name)
        return _named[name]


class Progress:
    """How far the running call has come: see `progress`."""

    def __init__(self, callback: Callable[[Progress], Any] | None, every: float) -> None:
        self.operation, self.launches, self.modelled_seconds, self.seconds = "", 0, 0.0, 0.0
        self._callback, self._every = callback, every
        self._begin = self._told = time.monotonic()

    def __repr__(self) -> str:
        return f"{self.operation}: {self.launches} launches, {self.modelled_seconds * 1e3:.2f} ms modelled, {self.seconds:.0f} s"

    def _tell(self, operation: str, launches: int, modelled_seconds: float) -> None:
        now = time.monotonic()
        if launches < self.launches:  # another call
            self._begin = now
        self.operation, self.launches, self.modelled_seconds = operation, launches, modelled_seconds
        self.seconds = now - self._begin
        if now - self._told < self._every:
            return
        self._told = now
        if self._callback is not None:
            self._callback(self)
        else:
            print(f"\r{self!r}", end="", file=sys.stderr, flush=True)


_progress: contextvars.ContextVar[Progress | None] = contextvars.ContextVar("trnsci.progress", default=None)


def _tell_progress(operation: str, launches: int, modelled_seconds: float) -> None:
    wanted = _progress.get()
    if wanted is not None:
        wanted._tell(operation, launches, modelled_seconds)


_trnsci.set_context(_current, {"prepare": prepare, "executor_named": executor_named, "tell_progress": _tell_progress})
os.register_at_fork(before=_trnsci.before_fork)


@contextlib.contextmanager
def progress(callback: Callable[[Progress], Any] | None = None, *, every: float = 1.0, executor: ExecutorLike = None) -> Iterator[Progress]:
    """Within the block long calls say how far they have come: callback(progress) every so many seconds, on the thread of the call.

    Without a callback a line on standard error is written over. What counts are operations and launches of the executor, so a
    call that is a single one says nothing; an exception from the callback ends the call. Iterations have `monitor=` besides.

    >>> import numpy as np, trnsci
    >>> seen = []
    >>> with trnsci.use("sim:trn2"), trnsci.progress(lambda p: seen.append(p.launches), every=0.0):
    ...     w = trnsci.solver.eigvalsh(np.eye(160, dtype=np.float32))
    >>> seen == sorted(seen)
    True
    """
    where = _executor(executor)
    told = Progress(callback, every)
    token = _progress.set(told)
    watching = _trnsci.Watch(where) if where.family == "host" else None
    try:
        yield told
    finally:
        del watching
        _progress.reset(token)
        if callback is None and told._told > told._begin:
            print(file=sys.stderr)


def _executor(executor: ExecutorLike) -> Executor:
    if executor is None:
        return _trnsci.current_executor()
    return executor if isinstance(executor, Executor) else executor_named(executor)


def current_executor() -> Executor:
    """The executor that calls take when they name none.

    >>> import trnsci
    >>> with trnsci.use("sim:trn2"):
    ...     print(trnsci.current_executor().name)
    sim:trn2
    """
    return _trnsci.current_executor()


_outer: contextvars.ContextVar[tuple[Executor | None, ...]] = contextvars.ContextVar("trnsci.outer", default=())


class use(contextlib.ContextDecorator):
    """Within the block calls run on this executor. Right in threads and in asyncio tasks: it is a context variable.

    >>> import numpy as np, trnsci
    >>> with trnsci.use("sim:trn2"):
    ...     y = trnsci.fft.fft(np.ones(8, dtype=np.complex64))
    >>> float(y[0].real)
    8.0

    One object can be entered again, also within its own block.
    """

    def __init__(self, executor: Executor | str) -> None:
        self._executor = executor

    def __enter__(self) -> Executor:
        chosen = _executor(self._executor)
        _outer.set((*_outer.get(), _current.get()))
        _current.set(chosen)
        return chosen

    def __exit__(self, *trouble: object) -> None:
        *rest, before = _outer.get()
        _outer.set(tuple(rest))
        _current.set(before)


def asarray(x: Any, executor: ExecutorLike = None, *, dtype: DTypeLike | None = None) -> Array:
    """A copy of x in the executor's memory; x itself when it is a device array that lies there already.

    >>> import numpy as np, trnsci
    >>> a = trnsci.asarray(np.arange(3, dtype=np.float32), "sim:trn2")
    >>> a.shape, a.executor.name
    ((3,), 'sim:trn2')
    >>> a.numpy()
    array([0., 1., 2.], dtype=float32)
    """
    where = _executor(executor)
    if isinstance(x, Array):
        if dtype is not None and np.dtype(dtype) != x.dtype:
            raise ValueError(f"asarray: the device array has type {x.dtype}; types are not converted on a device")
        return x if x.executor == where else _trnsci.to_device(x, where)
    array = as_array(x, "asarray", "x")
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    return _trnsci.to_device(array, where)


def asnumpy(x: Any) -> NDArray[Any]:
    """x as an array of NumPy's: a copy of a device array, NumPy's own arrays as they are.

    >>> import numpy as np, trnsci
    >>> trnsci.asnumpy(trnsci.asarray(np.ones(2), "host"))
    array([1., 1.])
    """
    return x.numpy() if isinstance(x, Array) else np.asarray(x)


def _dtype(self: Array) -> np.dtype[Any]:
    return np.dtype(self._type_name)


def _array(self: Array, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
    if copy is False:
        raise ValueError("a device array becomes a NumPy array by a copy")
    array = self.numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def _dlpack(self: Array, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
    if stream is not None:
        raise ValueError("__dlpack__: there are no streams here; stream must be None")
    if _dlpack_device(self) != (1, 0):
        raise BufferError(f"__dlpack__: the memory is that of '{self.executor.name}'; copy it with .numpy()")
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError("__dlpack__: the memory is the processor's, device (1, 0)")
    return self._dlpack()


def _dlpack_device(self: Array) -> tuple[int, int]:
    kind, _, number = self.executor.name.partition(":")
    if kind in ("host", "sim"):
        return (1, 0)  # their memory is this process's
    return (18, int(number) if number.isdigit() else 0)  # Trainium


def _to(self: Array, executor: ExecutorLike) -> Array:
    return asarray(self, executor)


def _len(self: Array) -> int:
    if self.ndim == 0:
        raise TypeError("len() of a device array of rank 0")
    return int(self.shape[0])


def _repr(self: Array) -> str:
    return f"trnsci.Array(shape={self.shape}, dtype={self.dtype}, executor='{self.executor.name}')"


for _name, _value in {
    "dtype": property(_dtype), "__array__": _array, "__dlpack__": _dlpack, "__dlpack_device__": _dlpack_device,
    "to": _to, "__len__": _len, "__repr__": _repr,
}.items():
    setattr(Array, _name, _value)

Array.__doc__ = """An array in the memory of an executor: `asarray` makes it, and calls that take device arrays return them.

Nothing crosses between executors unasked: device arrays of two executors, or beside NumPy's arrays, are a ValueError.

Attributes
----------
shape : tuple of int
ndim, size, nbytes : int
dtype : numpy.dtype
executor : Executor
    Where it lies.

Methods
-------
numpy()
    A copy as an array of NumPy's; numpy.asarray makes one too.
to(executor)
    A copy on another executor; itself where it lies there already.

Examples
--------
>>> import numpy as np, trnsci
>>> a = trnsci.asarray(np.ones((2, 4), np.complex64), "sim:trn2")
>>> b = trnsci.fft.fft(a)
>>> b
trnsci.Array(shape=(2, 4), dtype=complex64, executor='sim:trn2')
>>> b.numpy()[0].real
array([4., 0., 0., 0.], dtype=float32)
>>> np.from_dlpack(b).shape
(2, 4)
"""
Executor.__doc__ = """Where calls compute: the host, a simulated NeuronCore, or a real one.

Names are "host", "sim:trn2", "neuron:0", ... (`trnsci info` lists them); every Executor made is another device with memory of its own,
while a name given to `use` or `executor=` is the process's one of that name.

Attributes
----------
name : str
family : {"host", "device"}
clock : float
    Modelled seconds so far.

Methods
-------
synchronize()
    Waits for what was started.
known()
    The names that this build knows.

Examples
--------
>>> import trnsci
>>> core = trnsci.Executor("sim:trn2")
>>> core.family, core == trnsci.Executor("sim:trn2")
('device', False)
"""
__test__ = {"Array": Array.__doc__, "Executor": Executor.__doc__}  # doctest looks at what this module defines alone

Kind = Literal["allocate", "free", "copy", "constant", "dispatch", "build", "cache hit", "run", "compile", "load", "unload",
               "complete", "numerical error"]


class Record:
    """What an executor did: see `record`."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self._recorder = _trnsci.Recorder(executor)
        self._kept: tuple[list[Event], float] | None = None

    def _state(self) -> tuple[list[Event], float]:
        if self._kept is not None:
            return self._kept
        return self._recorder.events(), self._recorder.modelled_seconds()

    def _finish(self) -> None:
        self._kept = self._state()

    @property
    def events(self) -> list[Event]:
        """Every event so far: .kind, .subject, .family, .bytes, .modelled_seconds, .begin, .end, .purpose."""
        return self._state()[0]

    @property
    def modelled_seconds(self) -> float:
        """Modelled time of the operations; time in which two overlap counts once."""
        return self._state()[1]

    def count(self, kind: Kind, subject: str = "") -> int:
        """How many events of this kind there are, of all subjects or of one."""
        return sum(e.kind == kind and subject in ("", e.subject) for e in self.events)

    def bytes(self, kind: Kind) -> int:
        """The sum of bytes over the events of a kind."""
        return sum(e.bytes for e in self.events if e.kind == kind)

    def family_of(self, operation: str) -> str:
        """"host", "device", or "" when the operation was not dispatched; the last dispatch wins."""
        found = [e.family for e in self.events if e.kind == "dispatch" and e.subject == operation]
        return found[-1] if found else ""

    def html(self) -> str:
        """A table of the events and a timeline of the modelled runs, as a piece of HTML without outside references."""
        events, seconds = self._state()
        runs = [e for e in events if e.kind == "run"]
        first = min((e.begin for e in runs), default=0.0)
        span = max((e.end for e in runs), default=0.0) - first
        bars = "".join(
            f'<rect x="{600 * (e.begin - first) / span:.2f}" y="0" width="{max(600 * (e.end - e.begin) / span, 0.5):.2f}" height="18" '
            f'fill="#4878a8"><title>{_html.escape(e.subject)}: {e.modelled_seconds * 1e6:.2f} us</title></rect>'
            for e in runs) if span > 0 else ""
        picture = f'<svg width="600" height="18" role="img" aria-label="modelled runs">{bars}</svg>' if bars else ""
        rows = "".join(
            f"<tr><td>{e.kind}</td><td>{_html.escape(e.subject)}</td><td>{e.family}</td>"
            f'<td style="text-align:right">{e.bytes or ""}</td>'
            f'<td style="text-align:right">{f"{e.modelled_seconds * 1e6:.2f}" if e.modelled_seconds else ""}</td></tr>'
            for e in events)
        return (f'<div class="trnsci-record"><p>{_html.escape(self.executor.name)}: {len(events)} events, '
                f"{seconds * 1e6:.2f} us modelled</p>{picture}<table><thead><tr><th>event</th><th>subject</th><th>family</th>"
                f"<th>bytes</th><th>modelled us</th></tr></thead><tbody>{rows}</tbody></table></div>")

    def _repr_html_(self) -> str:
        return self.html()

    def __repr__(self) -> str:
        return f"<trnsci.Record of '{self.executor.name}': {len(self.events)} events, {self.modelled_seconds * 1e6:.2f} us modelled>"


@contextlib.contextmanager
def record(executor: ExecutorLike = None) -> Iterator[Record]:
    """Keeps what the executor does within the block. In a notebook the record shows itself as a page.

    >>> import numpy as np, trnsci
    >>> with trnsci.use("sim:trn2"), trnsci.record() as r:
    ...     _ = trnsci.fft.fft(np.ones(64, dtype=np.complex64))
    >>> r.family_of("fft.c2c"), r.count("run"), r.modelled_seconds > 0
    ('device', 1, True)
    """
    kept = Record(_executor(executor))
    try:
        yield kept
    finally:
        kept._finish()


__all__ = ["Accuracy", "Array", "DeviceError", "Event", "Executor", "ExecutorLike", "Progress", "Record", "asarray", "asnumpy",
           "current_executor", "progress", "record", "use"]

_docs.complete(globals(), _glossary.CORE)
