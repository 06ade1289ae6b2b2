// An Access as Python text: a slice of the declared array where the access is one, an explicit access pattern
// otherwise.
//
// NKI's convention for `.ap(pattern, offset)`: the array is flattened row-major, `pattern` lists [step, count] from the
// outermost loop to the innermost, `offset` is the first element, all in elements; on SBUF and PSUM arrays the first
// entry is the partition, whose step is the number of elements in one partition.
#pragma once

#include <string>
#include <trn/core/error.hpp>
#include <trn/tile/program.hpp>

#include "nki/names.hpp"

namespace trn::neuron::nki {

struct Module {
  explicit Module(const tile::Program& p) : program(p), names(p) {}
  const tile::Program& program;
  Names names;
  // By loop: the step of the register of a loop of the device, which holds that many times the variable; 0 for `range`.
  std::vector<std::int64_t> register_steps;
};

// Where an error happened: "program 'gemm', instruction 7 (tensor_scalar)".
[[nodiscard]] std::string place(const Module& module, std::int32_t instruction);

// How a tensor or tile is declared in the module. A tensor whose strides are not row-major is flat: a 1-D array of the
// memory from its first to its last element.
[[nodiscard]] bool is_flat(const tile::TensorDecl& tensor);
// Flat, and some of that memory is no element of the tensor.
[[nodiscard]] bool has_gaps(const tile::TensorDecl& tensor);
[[nodiscard]] Shape declared_shape(const tile::TensorDecl& tensor);
[[nodiscard]] Shape declared_shape(const tile::TileDecl& tile);

class Operands {
 public:
  Operands(const Module& module, std::int32_t instruction) : module_(module), instruction_(instruction) {}

  [[nodiscard]] std::string access(const tile::Access& access) const;
  // The same elements as another dtype of their size, which NKI knows by this name and DType does not.
  [[nodiscard]] std::string access_as(const tile::Access& access, const std::string& dtype) const;
  // One value per partition, as the (P, 1) array that operand0, bias, initial and vector_offset ask for.
  [[nodiscard]] std::string column(tile::Access access) const;
  // Rows of an HBM tensor chosen by `index`: `access` with its first dimension replaced by the rows that index names.
  [[nodiscard]] std::string indirect(const tile::Access& access, const tile::Access& index, tile::OobMode oob) const;
  // `access` moved on by `step` elements times the value of `from`, a register or a (1, 1) tile.
  [[nodiscard]] std::string starting_at(const tile::Access& access, const tile::Access& from, std::int64_t step) const;

 private:
  struct Pattern;
  // What a register adds to the start of an access: its text, and elements per unit of it.
  struct Moving {
    std::string text;
    std::int64_t step = 0;
  };
  [[nodiscard]] Pattern pattern_of(const tile::Access& access) const;
  [[nodiscard]] std::string text_of(Pattern pattern) const;
  // Takes the variable of a device loop out of the offset.
  [[nodiscard]] Moving take_register(tile::Affine& offset) const;
  [[nodiscard]] std::string slices(const Pattern& pattern) const;
  [[nodiscard]] std::string access_pattern(const Pattern& pattern, const std::string& index, Moving moving) const;
  template <class... Args> [[noreturn]] void unsupported(fmt::format_string<Args...> text, Args&&... args) const;

  const Module& module_;
  std::int32_t instruction_;
};

}  // namespace trn::neuron::nki
