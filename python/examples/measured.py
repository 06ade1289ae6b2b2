"""What the bench_*.py programs share: times of a call, and their arguments."""
import time

import trnsci


def fastest(call, rounds=5):
    """The least seconds of several calls on the host."""
    call()
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def modelled(executor, call):
    """Modelled seconds on a device, copies included; what is built in the first call is not."""
    with trnsci.use(executor):
        call()
        with trnsci.record() as record:
            call()
    return record.modelled_seconds


def shapes(arguments):
    """[executor] and pairs "n,k" as the arguments of main."""
    executor = [a for a in arguments if "," not in a][:1]
    pairs = tuple(tuple(int(x) for x in a.split(",")) for a in arguments if "," in a)
    return (executor[0] if executor else "sim:trn2", *((pairs,) if pairs else ()))
