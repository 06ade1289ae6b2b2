// verify: runs every rule over every instruction. Bounds come first: an instruction whose operands leave their memory
// is reported for that alone, because the later rules would only repeat it in other words.
#include <limits>
#include <trn/core/error.hpp>
#include <trn/tile/verify.hpp>

#include "verify_rules.hpp"

namespace trn::tile {

namespace rules {

Range range_of(const Affine& affine) {
  Range range{affine.constant(), affine.constant()};
  for (const Affine::Term& t : affine.terms()) {
    const Wide reach = static_cast<Wide>(t.coefficient) * (t.trip - 1);
    (reach < 0 ? range.low : range.high) += reach;
  }
  return range;
}

Range pattern_range(const std::vector<Dim>& dims) {
  Range range;
  for (const Dim& d : dims) {
    const Wide reach = static_cast<Wide>(d.stride) * (d.size - 1);
    (reach < 0 ? range.low : range.high) += reach;
  }
  return range;
}

std::int64_t count(const std::vector<Dim>& dims) {
  std::int64_t n = 1;
  for (const Dim& d : dims) {
    if (d.size < 1) return 0;
    if (__builtin_mul_overflow(n, d.size, &n)) n = std::numeric_limits<std::int64_t>::max();
  }
  return n;
}

std::int64_t elements(const Access& access) {
  std::vector<Dim> dims = access.dims;
  if (access.is_tile()) dims.push_back({0, access.partitions});
  return count(dims);
}

std::int64_t clamp(Wide value) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value < Limits::min()) return Limits::min();
  if (value > Limits::max()) return Limits::max();
  return static_cast<std::int64_t>(value);
}

}  // namespace rules

namespace {

// Beyond these a tile's bytes, in all its buffers, might not fit 64 bits; no machine comes near.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40, kMostBuffers = std::int64_t{1} << 18;

// Declarations that no machine could hold. Capacity as a whole is allocate's business. False where a tile is so large
// that its bytes cannot be computed.
bool check_tiles(const Program& program, const Machine& machine, std::vector<Diagnostic>& diagnostics) {
  bool sound = true;
  for (const TileDecl& tile : program.tiles()) {
    const auto report = [&](const char* rule, const std::string& text) {
      diagnostics.push_back({rule, -1, fmt::format("program '{}': tile '{}': {}", program.name(), tile.name, text)});
    };
    if (tile.partitions < 1 || tile.partitions > machine.partitions) {
      report("out-of-bounds", fmt::format("has {} partitions; {} has {}; split the tile", tile.partitions, machine.name,
                                          machine.partitions));
    }
    if (tile.buffers < 1 || element_count(tile.free_shape) < 1) {
      report("size-limit", fmt::format("has {} buffers of free shape {}; both must be at least 1", tile.buffers,
                                       to_string(tile.free_shape)));
    }
    if (tile.buffers > kMostBuffers || element_count(tile.free_shape) > kMostElements) {
      report("size-limit", fmt::format("has {} buffers of free shape {}; no machine holds a tile of that size",
                                       tile.buffers, to_string(tile.free_shape)));
      sound = false;
    }
    const bool one = tile.partitions == 1 && element_count(tile.free_shape) == 1 && tile.buffers == 1;
    if (tile.space == Space::Register && (!one || tile.dtype != DType::Int32)) {
      report("size-limit", fmt::format("a register holds one int32 number in one buffer, this is {} x {} {}",
                                       tile.partitions, to_string(tile.free_shape), name(tile.dtype)));
    }
    if (tile.dtype == DType::Float64) {
      report("illegal-dtype", "is float64, which no engine has; split the values into float32 parts on the host");
    }
    if (is_complex(tile.dtype)) {
      report("illegal-dtype", fmt::format("is {}, which no engine has; use two tiles of {}", name(tile.dtype),
                                          name(real_of(tile.dtype))));
    }
    if (is_int64(tile.dtype)) {
      report("illegal-dtype", fmt::format("is {}, which no engine has; use two tiles of uint32", name(tile.dtype)));
    }
    if (tile.dtype == DType::Float8E4M3FN && !machine.float8_e4m3fn) {
      report("illegal-dtype", fmt::format("is float8_e4m3fn, which {} does not have; use float8_e4m3", machine.name));
    }
  }
  return sound;
}

// Only an output continues an input, and what is partly written does: an output's memory starts undefined on hardware.
void check_aliases(const Program& program, std::vector<Diagnostic>& diagnostics) {
  for (std::size_t i = 0; i < program.tensors().size(); ++i) {
    const TensorDecl& t = program.tensors()[i];
    const auto report = [&](const std::string& text) {
      diagnostics.push_back(
          {"illegal-alias", -1, fmt::format("program '{}': tensor '{}': {}", program.name(), t.name, text)});
    };
    if (t.kind != TensorKind::Output && (t.partial || !t.alias.empty())) {
      report(
          fmt::format("an {} tensor has neither an alias nor unwritten parts; declare it as an output", name(t.kind)));
      continue;
    }
    if (t.partial && t.alias.empty()) {
      report(
          "is partly written and continues no input, so the rest has no value; build it with Builder::partial_output");
    }
    if (t.alias.empty()) continue;
    const TensorDecl* input = nullptr;
    for (std::size_t j = 0; j < program.tensors().size(); ++j) {
      const TensorDecl& other = program.tensors()[j];
      if (other.kind == TensorKind::Input && other.name == t.alias) input = &other;
      if (j < i && other.alias == t.alias) {
        report(fmt::format("continues input '{}', as '{}' does already; give it an input of its own", t.alias,
                           other.name));
      }
    }
    if (!input) {
      report(fmt::format("continues '{}', which is not an input of the program; name one of its inputs", t.alias));
    } else if (input->dtype != t.dtype || input->shape != t.shape || input->strides != t.strides) {
      report(fmt::format("is {} {} strides {}, but continues '{}' of {} {} strides {}; make them equal", name(t.dtype),
                         to_string(t.shape), to_string(t.strides), input->name, name(input->dtype),
                         to_string(input->shape), to_string(input->strides)));
    }
  }
}

}  // namespace

std::vector<Diagnostic> verify(const Program& program, const Machine& machine) {
  std::vector<Diagnostic> diagnostics;
  if (!check_tiles(program, machine, diagnostics)) return diagnostics;
  check_aliases(program, diagnostics);
  for (std::size_t i = 0; i < program.instructions().size(); ++i) {
    const rules::Context context{program, machine, program.instructions()[i], static_cast<std::int32_t>(i),
                                 diagnostics};
    if (!rules::check_bounds(context)) continue;
    rules::check_engine(context);
    rules::check_spaces(context);
    rules::check_operations(context);
    rules::check_dtypes(context);
    rules::check_partitions(context);
    rules::check_patterns(context);
    rules::check_shapes(context);
    rules::check_psum_bank(context);
    rules::check_starts(context);
  }
  rules::check_scopes(program, machine, diagnostics);
  return diagnostics;
}

void verify_or_throw(const Program& program, const Machine& machine) {
  const std::vector<Diagnostic> diagnostics = verify(program, machine);
  if (diagnostics.empty()) return;
  const Diagnostic& first = diagnostics.front();
  const std::string others =
      diagnostics.size() == 1 ? std::string() : fmt::format(" (and {} more)", diagnostics.size() - 1);
  throw DeviceError(fmt::format("{}: {}{}", first.rule, first.message, others), first.rule);
}

}  // namespace trn::tile
