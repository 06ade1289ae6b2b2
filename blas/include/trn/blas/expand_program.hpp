// A symmetric, Hermitian or triangular matrix written out in full on the device, bits unchanged.
#pragma once

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas {

enum class Expansion : std::uint8_t { Symmetric, Hermitian, Triangular };

// A is m x m with strides (am, an) in elements of `dtype` (float64, float32 or their complex types); its lower or upper
// triangle is stored. Symmetric and Hermitian ones store the lower. conj: conj(A) is written. unit: the diagonal is 1.
struct ExpandShape {
  DType dtype = DType::Float64;
  Expansion structure = Expansion::Symmetric;
  std::int64_t m = 1, am = 1, an = 1;
  bool lower = true, unit = false, conj = false;
  bool operator==(const ExpandShape&) const = default;
};

// Tensors: input "a" (m x m x words), output "full" (m x m x words, row-major), uint32. Nothing of the triangle that is
// not stored is read, nor a unit diagonal, nor imaginary parts on a Hermitian one.
[[nodiscard]] tile::Program expand_program(const ExpandShape& shape, const tile::Machine& machine);

}  // namespace trn::blas
