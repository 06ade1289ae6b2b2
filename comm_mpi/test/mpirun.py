"""How tests start programs under mpirun, as root in a container and as a user, with more ranks than processors."""
import os
import shutil
import subprocess
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


def mpirun(ranks, command, seconds, environment=None, exported=None, cwd=None):
    """Runs the command; (status, output with both streams, seconds). Status None: it did not end in time.

    `environment` is for mpirun and all ranks; `exported` for the ranks alone (LD_PRELOAD).
    """
    line = [shutil.which("mpirun") or "mpirun", "-np", str(ranks)]
    for name, value in (exported or {}).items():
        line += ["-x", f"{name}={value}"]
    start = time.monotonic()
    process = subprocess.Popen(line + command, env={**os.environ, **SETTINGS, **(environment or {})}, cwd=cwd, text=True,
                               errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()  # mpirun ends its ranks
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
        return None, output, time.monotonic() - start
    return process.returncode, output, time.monotonic() - start
