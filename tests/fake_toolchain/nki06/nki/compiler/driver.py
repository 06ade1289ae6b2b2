from types import SimpleNamespace

import fake_neff


def compile_to_bir(*, kernel_func, frontend, inputs, compile_opts, output_names):
    names = fake_neff.names(kernel_func, output_names)
    if [n.removesuffix(".must_alias_input") for n in names] != list(inputs):
        raise ValueError(f"parameters {names}, inputs {list(inputs)}")
    specs = [SimpleNamespace(name=n) for n in names], [SimpleNamespace(name=n) for n in output_names]
    return SimpleNamespace(descriptor=SimpleNamespace(input_specs=specs[0], output_specs=specs[1]))
