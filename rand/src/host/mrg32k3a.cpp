// Mrg32k3a on the host: seeding, jumps, and a draw by blocks of columns.
//
// Each of the two recurrences steps its last three numbers by a 3 x 3 matrix modulo its prime; n steps are the matrix's
// n-th power, applied as a product of the powers 2^i. Subsequences lie 2^76 steps apart, L'Ecuyer's substreams.
#include <trn/core/error.hpp>
#include <trn/core/parallel.hpp>

#include "host/sources.hpp"
#include "host/steps.hpp"

namespace trn::rand::host {

namespace {

constexpr std::uint64_t kColumns = 81920, kLegacyColumns = 4096;
constexpr int kApart = 76;

using M = Mrg32k3aColumns;
using Vector = std::array<std::uint32_t, 3>;
using Map = JumpMatrix;

// Every term of a sum is below 2^32 after its reduction, so the sum of three fits. The modulus is known to the
// compiler, which makes a multiplication of the division.
template <std::uint64_t m> Vector apply(const Map& a, const Vector& x) {
  Vector y{};
  for (std::size_t i = 0; i < 3; ++i) {
    std::uint64_t sum = 0;
    for (std::size_t j = 0; j < 3; ++j) sum += std::uint64_t{a[i][j]} * x[j] % m;
    y[i] = static_cast<std::uint32_t>(sum % m);
  }
  return y;
}

template <std::uint64_t m> Map square(const Map& a) {
  Map b{};
  for (std::size_t j = 0; j < 3; ++j) {
    const Vector column = apply<m>(a, {a[0][j], a[1][j], a[2][j]});
    for (std::size_t i = 0; i < 3; ++i) b[i][j] = column[i];
  }
  return b;
}

struct Powers {
  std::array<Map, 64> x_rows, y_rows;        // 2^i steps
  std::array<Map, 60> x_columns, y_columns;  // 2^(76 + i) steps
};

const Powers& powers() {
  static const Powers all = [] {
    Powers p;
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    Map x{{{0, 1, 0}, {0, 0, 1}, {low(M::kM1 - M::kA13), low(M::kA12), 0}}};
    Map y{{{0, 1, 0}, {0, 0, 1}, {low(M::kM2 - M::kA23), 0, low(M::kA21)}}};
    for (std::size_t i = 0; i < kApart + p.x_columns.size(); ++i) {
      if (i < p.x_rows.size()) p.x_rows[i] = x, p.y_rows[i] = y;
      if (i >= kApart) p.x_columns[i - kApart] = x, p.y_columns[i - kApart] = y;
      x = square<M::kM1>(x);
      y = square<M::kM2>(y);
    }
    return p;
  }();
  return all;
}

// cuRAND's start: the author's 12345 everywhere, multiplied by the halves of the seed unless the seed is 0.
Mrg32k3aState seeded(std::uint64_t seed) {
  constexpr std::uint64_t kStart = 12345;
  const auto times = [](std::uint64_t a, std::uint64_t m) { return static_cast<std::uint32_t>(a * kStart % m); };
  if (seed == 0) return {{kStart, kStart, kStart}, {kStart, kStart, kStart}};
  const std::uint64_t a = (seed & 0xffffffff) ^ 0x55555555, b = (seed >> 32) ^ 0xaaaaaaaa;
  return {{times(a, M::kM1), times(b, M::kM1), times(a, M::kM1)},
          {times(b, M::kM2), times(a, M::kM2), times(b, M::kM2)}};
}

}  // namespace

Mrg32k3aState mrg32k3a_state(std::uint64_t seed, std::uint64_t row, std::uint64_t column) {
  const Powers& p = powers();
  Mrg32k3aState s = seeded(seed);
  for (std::size_t i = 0; i < 64; ++i) {
    if (row >> i & 1) s = {apply<M::kM1>(p.x_rows[i], s.x), apply<M::kM2>(p.y_rows[i], s.y)};
  }
  ensure(column >> p.x_columns.size() == 0, "rand: mrg32k3a has no subsequence {}", column);
  for (std::size_t i = 0; i < p.x_columns.size(); ++i) {
    if (column >> i & 1) s = {apply<M::kM1>(p.x_columns[i], s.x), apply<M::kM2>(p.y_columns[i], s.y)};
  }
  return s;
}

void fill_mrg32k3a(const State& state, Draw draw, std::int64_t n, void* out) {
  const std::uint64_t period = state.ordering == Ordering::Legacy ? kLegacyColumns : kColumns;
  const auto blocks = column_blocks(period, 1, 0, state.position, n);
  const std::int64_t size = draw == Draw::OpenClosedDouble ? sizeof(double) : sizeof(std::uint32_t);
  const Powers& p = powers();
  parallel_for(static_cast<std::int64_t>(blocks.size()), true, [&](std::int64_t b) {
    const ColumnBlock& block = blocks[static_cast<std::size_t>(b)];
    Mrg32k3aState s = mrg32k3a_state(state.seed, block.row, period * state.stream + block.begin);
    Mrg32k3aColumns columns;
    for (std::int64_t c = 0; c < kMrgSeeds; ++c) {
      for (std::size_t w = 0; w < 3; ++w) columns.x[w][c] = s.x[w], columns.y[w][c] = s.y[w];
      s = {apply<M::kM1>(p.x_columns[0], s.x), apply<M::kM2>(p.y_columns[0], s.y)};
    }
    static_assert(kMrgSeeds == 8);
    mrg32k3a_spread(columns, p.x_columns[3], p.y_columns[3], static_cast<std::int64_t>(block.end - block.begin));
    mrg32k3a_rows(columns, draw, static_cast<std::int64_t>(block.end - block.begin), block.count,
                  static_cast<std::int64_t>(period), static_cast<std::byte*>(out) + block.first * size);
  });
}

}  // namespace trn::rand::host
