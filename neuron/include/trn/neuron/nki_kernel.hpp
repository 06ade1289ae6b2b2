// A program as an NKI kernel together with what a caller of the compiled kernel has to know: the names of its
// parameters and results, their order, memory and aliases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <trn/core/dtype.hpp>
#include <trn/core/shape.hpp>
#include <trn/neuron/nki.hpp>

namespace trn::neuron {

// A parameter or result of the kernel. Memory is that of the whole tensor from its lowest to its highest address; a
// tensor whose strides are not row-major is a one-dimensional array of it.
struct NkiArgument {
  std::string name;             // in the text
  std::int32_t tensor = 0;      // id in the program; for an input that an output continues, the output's
  std::int32_t parameter = -1;  // of a result: the parameter that is stored into and returned, or -1
  DType dtype = DType::Float32;
  Shape shape;  // as the kernel sees it
  std::size_t bytes = 0;
};

struct NkiKernel {
  std::string text;
  std::string entry;  // the kernel's name in the text
  std::vector<NkiArgument> parameters, results;
};

// Throws as emit_nki does.
[[nodiscard]] NkiKernel nki_kernel(const tile::Program& program, const NkiOptions& options = {});

}  // namespace trn::neuron
