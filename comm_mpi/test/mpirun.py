"""How tests start programs under mpirun, as root in a container and as a user, with more ranks than processors."""
import os
import shutil
import subprocess
import threading
import time

SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # Shared memory without the system call that containers forbid; no network, no ssh.
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_plm": "isolated",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def mpirun(ranks, command, seconds, environment=None, exported=None, cwd=None, since=None):
    """Runs the command; (status, output with both streams, seconds). Status None: it did not end in time.

    `environment` is for mpirun and all ranks; `exported` for the ranks alone (LD_PRELOAD). `since`: the seconds are
    counted from the first line with these words on, and are None where there is no such line.
    """
    line = [shutil.which("mpirun") or "mpirun", "-np", str(ranks)]
    for name, value in (exported or {}).items():
        line += ["-x", f"{name}={value}"]
    start = time.monotonic()
    process = subprocess.Popen(line + command, env={**os.environ, **SETTINGS, **(environment or {})}, cwd=cwd, text=True,
                               errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines, marked = [], []

    def read():
        for line in process.stdout:
            lines.append(line)
            if since is not None and since in line and not marked:
                marked.append(time.monotonic())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    late = False
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        late = True
        process.terminate()  # mpirun ends its ranks
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    end = time.monotonic()
    reader.join(timeout=10)  # a rank that is left behind may hold the pipe
    begin = start if since is None else marked[0] if marked else None
    return None if late else process.returncode, "".join(lines), None if begin is None else end - begin
