// Threefry4x32-20 on planes: additions on GpSimd, rotations and xors on the Vector Engine.
//
// Time per element and round, trn2: GpSimd 2 additions, and 4 more every fourth round, at 2 cycles of 1.2 GHz = 5.0 ns;
// Vector 2 rotations of two shifts (half a cycle of 0.96 GHz each) and an or, and 2 xors = 6.3 ns. Twenty rounds make
// 4 * 128 values in 125 ns: 4.1e9 values/s at best.
#include <fmt/core.h>

#include "device/rounds.hpp"

namespace trn::rand::device {

namespace {

using namespace tile;

static_assert(threefry::kRounds == WordTiles::kBetween);

constexpr std::int64_t kInjectionWords = 4;  // where the injections begin; words 0 .. 3 hold the counter plus the first

}  // namespace

Planes threefry_blocks(Builder& b, const Access& parameters, const Access& count, const Between& between) {
  const std::int64_t rows = count.partitions, columns = count.free_size();
  const auto parameter = [&](std::int64_t k) { return parameters(all, ds(k, 1)); };
  const auto plane = [&](const std::string& name) { return b.sbuf(name, rows, {columns}, DType::UInt32); };
  Planes x;
  Access left[2], right[2];
  for (std::size_t w = 0; w < 4; ++w) x[w] = plane(fmt::format("x{}", w));
  for (std::size_t m = 0; m < 2; ++m) {
    left[m] = plane(fmt::format("left{}", m));
    right[m] = plane(fmt::format("right{}", m));
  }
  b.tensor_copy(x[0], count, Engine::Vector);
  for (std::size_t w = 1; w < 4; ++w) {
    b.tensor_copy(x[w], spread(parameter(static_cast<std::int64_t>(w)), columns), mover(b.machine()));
  }
  for (int r = 0; r < threefry::kRounds; ++r) {
    // Word 1 comes out of each round first and goes into the next one first, so that GpSimd adds while Vector still
    // works.
    const bool even = r % 2 == 0;
    const std::array<std::size_t, 2> mixes = even ? std::array<std::size_t, 2>{0, 1} : std::array<std::size_t, 2>{1, 0};
    const auto partner = [&](std::size_t m) -> const Access& { return x[(m == 0) == even ? 1 : 3]; };
    for (const std::size_t m : mixes) b.tensor_tensor(x[2 * m], x[2 * m], partner(m), AluOp::Add, Engine::GpSimd);
    for (const std::size_t m : mixes) {
      const int bits = threefry::kRotations[r % 8][m];
      b.tensor_scalar(left[m], partner(m), AluOp::LeftShift, static_cast<double>(bits));
      b.tensor_scalar(right[m], partner(m), AluOp::RightShift, static_cast<double>(32 - bits));
      b.tensor_tensor(left[m], left[m], right[m], AluOp::BitwiseOr, Engine::Vector);
    }
    for (const std::size_t m : mixes) b.tensor_tensor(partner(m), left[m], x[2 * m], AluOp::BitwiseXor, Engine::Vector);
    if (between) between(r);
    if ((r + 1) % threefry::kInjectionEvery != 0) continue;
    const std::int64_t s = (r + 1) / threefry::kInjectionEvery;
    for (const std::size_t w : {1u, 3u, 0u, 2u}) {  // what the rotations wait for comes first
      const Access key = parameter(kInjectionWords + 4 * (s - 1) + static_cast<std::int64_t>(w));
      b.tensor_tensor(x[w], x[w], spread(key, columns), AluOp::Add, Engine::GpSimd);
    }
  }
  return x;
}

std::vector<std::uint32_t> threefry_parameters(const Words4& counter, const Words4& key) {
  std::vector<std::uint32_t> words;
  for (int w = 0; w < 4; ++w) {
    words.push_back(counter[static_cast<std::size_t>(w)] + threefry::injection(key, 0, w));
  }
  for (int s = 1; s < threefry::kInjections; ++s) {
    for (int w = 0; w < 4; ++w) words.push_back(threefry::injection(key, s, w));
  }
  return words;
}

}  // namespace trn::rand::device
