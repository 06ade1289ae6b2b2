// Launches of attention on a device.
#include <array>

#include <trn/core/array.hpp>
#include <trn/core/float_types.hpp>
#include <trn/sparse/attention_programs.hpp>
#include <trn/sparse/tile_programs.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/words.hpp>

#include "../attention_kernels.hpp"

namespace trn::sparse::device {

namespace {

constexpr std::int64_t kSide = AttentionMask::kBlock;
constexpr float kAbsent = -30000;  // never infinity: that times a zero of the identity is NaN

// The identity, then what each part of the mask adds to scores.
std::vector<bfloat16> part_tiles(const AttentionMask& mask) {
  std::vector<bfloat16> tiles(
      static_cast<std::size_t>((1 + static_cast<std::int64_t>(mask.parts().size())) * kSide * kSide));
  for (std::size_t i = 0; i < kSide; ++i) tiles[i * kSide + i] = bfloat16(1.0f);
  std::size_t at = kSide * kSide;
  for (const auto& part : mask.parts()) {
    for (const std::uint8_t flag : part) tiles[at++] = bfloat16(flag != 0 ? 0.0f : kAbsent);
  }
  return tiles;
}

std::vector<float> alive(const AttentionMask& mask) {
  const std::int64_t blocks = (mask.queries() + kSide - 1) / kSide;
  std::vector<float> flags(static_cast<std::size_t>(kSide * blocks));
  for (std::int64_t i = 0; i < mask.queries(); ++i)
    flags[static_cast<std::size_t>(i % kSide * blocks + i / kSide)] = mask.has_keys(i) ? 1.0f : 0.0f;
  return flags;
}

void check_room(const char* operation, const AttentionShape& s, bool backward, const tile::Machine& machine) {
  const std::int64_t needed = attention_bytes(s, backward), most = tile::blocks::bank_columns(machine);
  if (s.d > most || s.dv > most)
    fail<NotImplemented>("{}: head dimensions {} and {}; a device takes up to {}", operation, s.d, s.dv, most);
  if (needed > machine.sbuf_bytes_per_partition)
    fail<NotImplemented>(
        "{}: {} queries and {} keys need {} bytes a partition of SBUF, {} has {}; use bf16, shorter pieces or the host",
        operation, s.queries, s.keys, needed, machine.name, machine.sbuf_bytes_per_partition);
}

std::vector<tile::Argument> arguments_of(const AttentionMask& mask, const AttentionOptions& o) {
  return {tile::constant("scale", std::array{static_cast<float>(o.scale)}), tile::constant("parts", part_tiles(mask)),
          tile::constant("alive", alive(mask))};
}

// For results of problems without queries or keys, which have no program.
void fill(const Executor& executor, float* to, std::int64_t count, float value) {
  if (to == nullptr || count == 0) return;
  const std::vector<float> values(static_cast<std::size_t>(count), value);
  copy(View<const float>(Executor::host(), values.data(), {count}), View<float>(executor, to, {count}));
}

}  // namespace

AttentionPlanned plan_attention(const Executor& executor, const AttentionPlanArgs& g) {
  constexpr const char* operation = "sparse.attention.plan";
  const Precision& precision = g.options->precision;
  if (precision.has_target() || (precision.mode() != Mode::Native && precision.mode() != Mode::Bf16))
    fail<NotImplemented>("{}: attention has native and bf16 on devices", operation);
  const tile::Machine& machine = tile::device_of(executor).machine();
  const tile::Words& words = tile::words_of(precision.mode());
  const auto bound = [&](std::int64_t n) {
    const double depth = tile::sum_roundings(words, std::max(g.options->d, g.options->dv));
    return std::max(2 * depth + 6, tile::sum_roundings(words, n) + static_cast<double>(n) + 11) * 0x1p-24 +
           3 * words.product_error;
  };
  AttentionPlanned planned;
  const std::int64_t m = g.mask->most_queries() * (g.options->heads / g.options->kv_heads);
  planned.forward = {precision.mode(), 1, bound(g.mask->most_keys())};
  planned.backward = {precision.mode(), 1, bound(std::max(g.mask->most_keys(), m))};
  const AttentionShape s = attention_shape(*g.mask, *g.options, precision.mode());
  check_room(operation, s, false, machine);
  if (!s.blocks.empty()) {
    planned.report.forward_seconds = roof_seconds(attention_program(s, machine), machine);
    if (attention_bytes(s, true) <= machine.sbuf_bytes_per_partition)
      planned.report.backward_seconds = roof_seconds(attention_backward_program(s, machine), machine);
  }
  return planned;
}

void attention(const Executor& executor, const AttentionArgs<float>& g) {
  const AttentionOptions& o = *g.options;
  if (g.mask->keys() == 0) {
    fill(executor, g.o, o.heads * g.mask->queries() * o.dv, 0);
    return fill(executor, g.log_sums, o.heads * g.mask->queries(), 1e30f);
  }
  AttentionShape s = attention_shape(*g.mask, *g.options, g.mode);
  s.sums = g.log_sums != nullptr;
  std::vector<tile::Argument> arguments = arguments_of(*g.mask, *g.options);
  for (const auto& [name, data] : {std::pair("q", g.q), std::pair("k", g.k), std::pair("v", g.v)})
    arguments.emplace_back(name, static_cast<const void*>(data));
  for (const auto& [name, data] : {std::pair("o", g.o), std::pair("log_sums", g.log_sums)})
    arguments.emplace_back(name, static_cast<void*>(data));
  tile::launch(executor, attention_program, s, arguments);
}

void attention_backward(const Executor& executor, const AttentionBackwardArgs<float>& g) {
  const AttentionOptions& o = *g.options;
  if (g.mask->queries() == 0 || g.mask->keys() == 0) {
    fill(executor, g.d_q, o.heads * g.mask->queries() * o.d, 0);
    fill(executor, g.d_k, o.kv_heads * g.mask->keys() * o.d, 0);
    return fill(executor, g.d_v, o.kv_heads * g.mask->keys() * o.dv, 0);
  }
  const AttentionShape s = attention_shape(*g.mask, *g.options, g.mode);
  check_room("sparse.attention.backward", s, true, tile::device_of(executor).machine());
  std::vector<tile::Argument> arguments = arguments_of(*g.mask, *g.options);
  for (const auto& [name, data] : {std::pair("q", g.q), std::pair("k", g.k), std::pair("v", g.v), std::pair("o", g.o),
                                   std::pair("log_sums", g.log_sums), std::pair("d_o", g.d_o)})
    arguments.emplace_back(name, static_cast<const void*>(data));
  for (const auto& [name, data] : {std::pair("d_q", g.d_q), std::pair("d_k", g.d_k), std::pair("d_v", g.d_v)})
    arguments.emplace_back(name, static_cast<void*>(data));
  tile::launch(executor, attention_backward_program, s, arguments);
}

}  // namespace trn::sparse::device
