"""What happens when a rank of three goes wrong, with real processes: the job must end in time with a status that is not
0, and the lines it leaves behind must name the rank and the operation.

faults.py PROGRAM
"""
import re
import sys

from mpirun import mpirun

WATCHDOG = 2  # seconds
# Seconds from the fault to the end of the job, beside the watchdog's. Under load a job takes long to start.
LIMIT, START = 5, 30

# fault, watchdog involved, settings, lines that must be there
FAULTS = [
    ("exit", False, {}, [r"rank 1 of 3 called exit\(\) .*after broadcast\(100, 0\), call 1"]),
    ("_exit", False, {}, [r"rank 0 of 3 was ended while it waited in broadcast\(1000, 0\), call 2", r"exit.*without calling|\[\[\d+,1\],1\]"]),
    ("return", False, {}, [r"rank 0 is in broadcast\(1000, 0\), call 2; rank 1 is in end of program, call 2"]),
    ("status", False, {}, [r"Exit code: +3"]),
    ("segv", False, {}, [r"rank 1 of 3: SIGSEGV in or after broadcast\(100, 0\), call 1"]),
    ("abort", False, {}, [r"rank 1 of 3: SIGABRT in or after broadcast\(100, 0\), call 1"]),
    ("throw", False, {}, [r"rank 1 of 3, in or after broadcast\(100, 0\), call 1: out of memory on one rank"]),
    ("mpi_abort", False, {}, [r"rank 1 of 3 called MPI_Abort, in or after broadcast\(100, 0\), call 1", r"rank [02] of 3 was ended while it waited in broadcast\(1000, 0\)"]),
    ("stop", True, {}, [r"rank [02] of 3 waits for \d+ s in broadcast\(1000, 0\), call 2", r"rank 1 of 3 does not answer"]),
    ("stop", True, {"TRN_COMM_CHECK": "0"}, [r"waits for \d+ s in broadcast\(1000, 0\)", r"rank 1 of 3 does not answer"]),
    ("parts", True, {}, [r"rank 0 of 3 waits .*in broadcast\(8, 0\)", r"rank 0 of 2 \(1 of the job\) waits .*in all_gather\(8\)"]),
    ("order", False, {}, [r"rank 0 is in broadcast\(1000000, 0\), call 2; rank 1 is in all_gather\(1000000\), call 2"]),
    ("order", True, {"TRN_COMM_CHECK": "0"}, [r"rank 0 of 3 waits .*in broadcast\(1000000, 0\)", r"rank 1 of 3 waits .*in all_gather\(1000000\)"]),
    ("short", False, {}, [r"rank 0 is in broadcast\(4, 0\), call 2; rank 1 is in broadcast\(8, 0\), call 2"]),
    ("short", False, {"TRN_COMM_CHECK": "0"}, [r"rank [12] of 3, .*broadcast\(8, 0\).*expects 8 bytes of rank 0 and gets 4"]),
]


def main():
    wrong = []
    status, output, _ = mpirun(3, [sys.argv[1], "fault", "none"], START)
    if status != 0:
        wrong.append(f"without a fault: status {status}\n{output}")
    for name, watchdog, settings, lines in FAULTS:
        limit = LIMIT + (WATCHDOG if watchdog else 0)
        status, output, seconds = mpirun(3, [sys.argv[1], "fault", name], START + limit,
                                         {"TRN_COMM_TIMEOUT": str(WATCHDOG if watchdog else 100), **settings}, since="fault now")
        missing = [line for line in lines if not re.search(line, output)]
        print(f"{name} {settings or ''}: status {status}, {'never' if seconds is None else f'{seconds:.1f} s'} after the fault")
        if status is None or status == 0 or missing or seconds is None or seconds > limit:
            wrong.append(f"{name} {settings}: status {status}, {seconds} s after the fault, missing lines {missing}, in\n{output}")
    print(f"{len(FAULTS)} faults")
    if wrong:
        sys.exit("WRONG:\n" + "\n".join(wrong))


main()
