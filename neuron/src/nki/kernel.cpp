// nki_kernel: the text and the list of its parameters and results.
#include <algorithm>

#include <trn/neuron/nki_kernel.hpp>

#include "nki/names.hpp"
#include "nki/operand.hpp"

namespace trn::neuron {

NkiKernel nki_kernel(const tile::Program& program, const NkiOptions& options) {
  const nki::Names names(program);
  const NkiTensors tensors = nki_tensors(program);
  NkiKernel kernel{emit_nki(program, options), names.kernel, {}, {}};
  const auto argument = [&](std::int32_t tensor) {
    const tile::TensorDecl& t = program.tensors()[static_cast<std::size_t>(tensor)];
    NkiArgument a{names.tensors[static_cast<std::size_t>(tensor)], tensor, -1, t.dtype, nki::declared_shape(t), 0};
    a.bytes = static_cast<std::size_t>(element_count(a.shape) * size_bytes(t.dtype));
    return a;
  };
  for (const std::int32_t tensor : tensors.arguments) kernel.parameters.push_back(argument(tensor));
  for (const std::int32_t tensor : tensors.results) {
    kernel.results.push_back(argument(tensor));
    const auto at = std::find(tensors.arguments.begin(), tensors.arguments.end(), tensor);
    if (at != tensors.arguments.end()) {
      kernel.results.back().parameter = static_cast<std::int32_t>(at - tensors.arguments.begin());
    }
  }
  return kernel;
}

}  // namespace trn::neuron
