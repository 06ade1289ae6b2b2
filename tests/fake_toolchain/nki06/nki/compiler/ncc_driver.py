from pathlib import Path
from types import SimpleNamespace

import fake_neff


class CompileOptions:
    def __init__(self, *, target, lnc, output_path, artifacts_dir, neuronx_cc_args=()):
        if Path(artifacts_dir).exists():
            raise FileExistsError(artifacts_dir)
        self.target, self.lnc, self.output_path = target, lnc, output_path


def compile_bir_to_neff(options, bir, extra, input_names, output_names):
    fake_neff.write(options.output_path, options.lnc, input_names, output_names)
    return SimpleNamespace(neff_path=options.output_path)
