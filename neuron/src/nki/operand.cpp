// Tiles and tensors are handled alike: both are row-major arrays as declared, and an access to either is one pattern
// over the flattened array (on a tile the partition is the outermost dimension, one partition's elements its step).
#include "nki/operand.hpp"

#include <algorithm>

#include "nki/text.hpp"

namespace trn::neuron::nki {

using tile::Access;
using tile::Affine;
using tile::Dim;

// The access in elements of its own dtype, beside the declared array seen in that dtype.
struct Operands::Pattern {
  std::string name;
  DType dtype, declared_dtype;
  Shape shape;  // of the array after .view(dtype); empty when its last dimension does not divide
  Affine offset;
  std::vector<Dim> dims;
  bool in_hbm;
  std::string seen_as = {};  // the dtype's name where it is not the declared one
};

template <class... Args> void Operands::unsupported(fmt::format_string<Args...> text, Args&&... args) const {
  fail<NotImplemented>("emit_nki: {}: {}", place(module_, instruction_),
                       fmt::format(text, std::forward<Args>(args)...));
}

std::string place(const Module& module, std::int32_t instruction) {
  const auto& instructions = module.program.instructions();
  return fmt::format("program '{}', instruction {} ({})", module.program.name(), instruction,
                     name(instructions[static_cast<std::size_t>(instruction)].opcode()));
}

bool is_flat(const tile::TensorDecl& tensor) { return tensor.strides != row_major_strides(tensor.shape); }

bool has_gaps(const tile::TensorDecl& tensor) {
  return is_flat(tensor) && declared_shape(tensor).front() > element_count(tensor.shape);
}

Shape declared_shape(const tile::TensorDecl& tensor) {
  if (!is_flat(tensor)) return tensor.shape;
  const OffsetRange range = offset_range(tensor.shape, tensor.strides);
  return {range.highest - range.lowest + 1};
}

// NKI arrays on chip have at least one free dimension.
Shape declared_shape(const tile::TileDecl& tile) {
  Shape shape{tile.partitions};
  shape.insert(shape.end(), tile.free_shape.begin(), tile.free_shape.end());
  if (tile.free_shape.empty()) shape.push_back(1);
  return shape;
}

Operands::Pattern Operands::pattern_of(const Access& access) const {
  const auto id = static_cast<std::size_t>(access.id);
  Pattern p{{}, access.dtype, {}, {}, access.offset, access.dims, !access.is_tile()};
  std::int64_t per_partition = 0;  // bytes
  if (access.is_tile()) {
    const tile::TileDecl& tile = module_.program.tiles()[id];
    p.name = module_.names.tiles[id];
    p.declared_dtype = tile.dtype;
    p.shape = declared_shape(tile);
    per_partition = tile.bytes_per_partition();
  } else {
    const tile::TensorDecl& tensor = module_.program.tensors()[id];
    p.name = module_.names.tensors[id];
    p.declared_dtype = tensor.dtype;
    p.shape = declared_shape(tensor);
    p.offset = p.offset - offset_range(tensor.shape, tensor.strides).lowest;
  }
  const std::int64_t size = size_bytes(access.dtype), declared_size = size_bytes(p.declared_dtype);
  if ((p.shape.back() * declared_size) % size == 0) {
    p.shape.back() = p.shape.back() * declared_size / size;
  } else {
    p.shape.clear();
  }
  if (access.dtype != p.declared_dtype) p.seen_as = dtype_name(access.dtype);
  if (!access.is_tile()) return p;
  if (per_partition % size != 0) {
    unsupported(
        "'{}' holds {} bytes in a partition, not a whole number of {} elements, so .ap has no partition step for "
        "it; pad the tile to a multiple of {} bytes",
        p.name, per_partition, name(access.dtype), size);
  }
  const std::int64_t step = per_partition / size;
  if (p.dims.empty()) p.dims.push_back({1, 1});
  p.dims.insert(p.dims.begin(), Dim{step, access.partitions});
  p.offset = access.partition * step + access.offset;
  return p;
}

namespace {

enum class Quotient { Truncated, Floored };

std::int64_t divide(std::int64_t a, std::int64_t b, Quotient quotient) {
  const std::int64_t q = a / b;
  return quotient == Quotient::Floored && a % b < 0 ? q - 1 : q;
}

// offset = sum of starts[d] * strides[d], each start inside its dimension; empty when this way of dividing gives none.
std::vector<Affine> split_offset(const Affine& offset, const std::vector<Dim>& dims, const Shape& shape,
                                 const Strides& strides, Quotient quotient) {
  std::vector<Affine> starts(shape.size());
  const auto split = [&](const Affine& unit, std::int64_t factor) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t q = divide(factor, strides[d], quotient);
      starts[d] = starts[d] + unit * q;
      factor -= q * strides[d];
    }
  };
  split(1, offset.constant());
  for (const Affine::Term& t : offset.terms()) split(Affine::variable(t.variable, t.trip), t.coefficient);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (starts[d].min() < 0 || starts[d].max() + dims[d].size > shape[d]) return {};
  }
  return starts;
}

}  // namespace

// "t", "t[0:128, nl.ds(k*64, 64)]", "t.view(nl.int32)[...]"; empty when the access is not a slice of the array.
std::string Operands::slices(const Pattern& p) const {
  if (p.shape.size() != p.dims.size() || (p.in_hbm && p.dims.size() > tile::kHbmLevels)) return {};
  const Strides strides = row_major_strides(p.shape);
  for (std::size_t d = 0; d < p.dims.size(); ++d) {
    if (p.dims[d].stride != strides[d] && p.dims[d].size != 1) return {};
  }
  std::vector<Affine> starts = split_offset(p.offset, p.dims, p.shape, strides, Quotient::Truncated);
  if (starts.empty()) starts = split_offset(p.offset, p.dims, p.shape, strides, Quotient::Floored);
  if (starts.empty()) return {};
  std::string text;
  bool whole = true;
  for (std::size_t d = 0; d < starts.size(); ++d) {
    const std::int64_t size = p.dims[d].size;
    whole = whole && starts[d] == Affine(0) && size == p.shape[d];
    if (d > 0) text += ", ";
    text += starts[d].is_constant() ? fmt::format("{}:{}", starts[d].constant(), starts[d].constant() + size)
                                    : fmt::format("nl.ds({}, {})", expression(module_.names, starts[d]), size);
  }
  const std::string array = p.seen_as.empty() ? p.name : fmt::format("{}.view({})", p.name, p.seen_as);
  return whole ? array : fmt::format("{}[{}]", array, text);
}

namespace {

// The same elements in the same order from the first `keep` dimensions and, of the others, as few as possible.
std::vector<Dim> merged(const std::vector<Dim>& dims, std::size_t keep) {
  std::vector<Dim> result(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(keep));
  for (std::size_t d = keep; d < dims.size(); ++d) {
    if (dims[d].size == 1) continue;
    if (result.size() > keep && result.back().stride == dims[d].stride * dims[d].size) {
      result.back() = {dims[d].stride, result.back().size * dims[d].size};
    } else {
      result.push_back(dims[d]);
    }
  }
  if (result.empty()) result.push_back({1, 1});
  return result;
}

}  // namespace

Operands::Moving Operands::take_register(Affine& offset) const {
  Moving moving;
  const Affine whole = offset;
  for (const Affine::Term& t : whole.terms()) {
    const auto loop = static_cast<std::size_t>(t.variable);
    const std::int64_t step = module_.register_steps[loop];
    if (step == 0) continue;
    if (moving.step != 0) unsupported("an address follows two registers; .ap takes one: keep their sum in a tile");
    moving = {module_.names.loops[loop], t.coefficient / step};
    offset = offset - Affine::variable(t.variable, t.trip) * t.coefficient;
  }
  return moving;
}

std::string Operands::access_pattern(const Pattern& whole, const std::string& index, Moving moving) const {
  Pattern p = whole;
  if (p.in_hbm && p.dims.size() > tile::kHbmLevels) {
    p.dims = merged(p.dims, index.empty() ? 0 : 1);
    if (p.dims.size() > tile::kHbmLevels) {
      unsupported("'{}' is accessed in {} levels; an access pattern in HBM has at most {}: split the copy", p.name,
                  p.dims.size(), tile::kHbmLevels);
    }
  }
  for (const Dim& d : p.dims) {
    if (d.stride < 0) {
      unsupported(
          "'{}' is accessed with step {}; .ap is documented for steps of at least 0: use a tensor with positive "
          "strides",
          p.name, d.stride);
    }
  }
  std::string array = p.name, starts;
  if (moving.step != 0) {
    if (p.dtype != p.declared_dtype || !p.in_hbm) {
      unsupported("'{}' is reached through a register on chip or in another dtype; use a tensor of that dtype", p.name);
    }
    // The register counts steps of one dimension: of the array's own, or of its memory seen as rows of that length.
    const Strides strides = row_major_strides(p.shape);
    std::size_t d = static_cast<std::size_t>(std::find(strides.begin(), strides.end(), moving.step) - strides.begin());
    if (d == strides.size()) {
      const std::int64_t elements = element_count(p.shape);
      if (moving.step < 1 || elements % moving.step != 0) {
        unsupported(
            "a register moves '{}' on by {} elements, which is not a step of a dimension and does not divide its {} "
            "elements; give the tensor such a dimension",
            p.name, moving.step, elements);
      }
      array = fmt::format("{}.reshape({})", p.name, tuple({elements / moving.step, moving.step}));
      d = 0;
    }
    starts = fmt::format(", scalar_offset={}, indirect_dim={}", moving.text, d);
  }
  std::string text = fmt::format("{}.ap(pattern={}", array, pattern(p.dims));
  if (p.offset != Affine(0)) text += fmt::format(", offset={}", expression(module_.names, p.offset));
  text += starts;
  if (!index.empty()) text += fmt::format(", vector_offset={}, indirect_dim=0", index);
  if (!p.seen_as.empty()) text += fmt::format(", dtype={}", p.seen_as);
  return text + ")";
}

std::string Operands::text_of(Pattern p) const {
  const Moving moving = take_register(p.offset);
  std::string text = moving.step == 0 ? slices(p) : std::string();
  return text.empty() ? access_pattern(p, {}, moving) : text;
}

std::string Operands::starting_at(const Access& access, const Access& from, std::int64_t step) const {
  Pattern p = pattern_of(access);
  if (take_register(p.offset).step != 0) {
    unsupported("an address follows two registers; .ap takes one: keep their sum in a tile");
  }
  return access_pattern(p, {}, {column(from), step});
}

std::string Operands::access(const Access& access) const {
  if (access.is_tile()) {
    const auto id = static_cast<std::size_t>(access.id);
    if (module_.program.tiles()[id].space == tile::Space::Register) return module_.names.tiles[id];
  }
  return text_of(pattern_of(access));
}

std::string Operands::access_as(const Access& access, const std::string& dtype) const {
  Pattern p = pattern_of(access);
  p.seen_as = dtype;
  return text_of(p);
}

std::string Operands::column(Access access) const {
  if (access.free_size() != 1) {
    unsupported("an operand that holds one value per partition has {} of them", access.free_size());
  }
  access.dims = {{1, 1}};
  return this->access(access);
}

std::string Operands::indirect(const Access& access, const Access& index, tile::OobMode oob) const {
  const tile::TensorDecl* tensor =
      access.is_tile() ? nullptr : &module_.program.tensors()[static_cast<std::size_t>(access.id)];
  if (!tensor || is_flat(*tensor) || access.dtype != tensor->dtype || access.dims.empty() ||
      access.dims.front().stride != tensor->strides.front()) {
    unsupported(
        "the indirect operand '{}' is not a row-major HBM tensor indexed along its first dimension; the index of "
        ".ap(vector_offset=...) counts rows of dimension 0, so store the tensor row-major with the rows first",
        tensor ? tensor->name : std::string("tile"));
  }
  const bool all_rows = access.dims.front().size == tensor->shape.front();
  if (oob == tile::OobMode::Skip && !all_rows) {
    unsupported(
        "oob_mode.skip on {} of the {} rows of '{}'; NKI skips indices beyond the whole tensor only: index all of "
        "its rows",
        access.dims.front().size, tensor->shape.front(), tensor->name);
  }
  Pattern p = pattern_of(access);
  p.dims.front().size = index.partitions;
  return access_pattern(p, column(index), {});
}

}  // namespace trn::neuron::nki
