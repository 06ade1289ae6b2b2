import fake_neff


class CompileOptions:
    def __init__(self, *, target, lnc, output_path, artifacts_dir):
        self.output_path = output_path


class CompiledKernel:
    def __init__(self, result, path):
        self.input_names, self.output_names, self.neff_path = result.input_names, result.output_names, path

    @classmethod
    def from_frontend(cls, result, options):
        fake_neff.write(options.output_path, result.lnc, result.input_names, result.output_names)
        return cls(result, options.output_path)
