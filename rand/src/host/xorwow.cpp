// Xorwow on the host: seeding, jumps, and a draw by blocks of columns.
//
// The five words of the state step by a linear map M over the field of two elements, so n steps are M^n, applied as a
// product of the powers M^(2^i). Subsequences lie 2^67 steps apart. The counter d is a plain sum modulo 2^32, to which
// 2^67 steps add nothing.
#include <trn/core/error.hpp>
#include <trn/core/parallel.hpp>

#include "host/sources.hpp"
#include "host/steps.hpp"

namespace trn::rand::host {

namespace {

constexpr std::uint64_t kColumns = 4096;
constexpr int kApart = 67;  // log2 of the steps between subsequences
constexpr int kBits = 160;

using Vector = std::array<std::uint32_t, 5>;

Vector operator^(const Vector& a, const Vector& b) {
  return {a[0] ^ b[0], a[1] ^ b[1], a[2] ^ b[2], a[3] ^ b[3], a[4] ^ b[4]};
}

// Column j is the image of bit j.
struct Map {
  std::array<Vector, kBits> columns;
  Vector operator()(const Vector& x) const {
    Vector y{};
    for (std::size_t j = 0; j < kBits; ++j) {
      const std::uint32_t mask = 0u - (x[j / 32] >> (j % 32) & 1u);
      for (std::size_t w = 0; w < 5; ++w) y[w] ^= columns[j][w] & mask;
    }
    return y;
  }
};

Vector step(const Vector& v) {
  const std::uint32_t t = v[0] ^ (v[0] >> 2);
  return {v[1], v[2], v[3], v[4], v[4] ^ (v[4] << 4) ^ t ^ (t << 1)};
}

struct Powers {
  std::array<Map, 64> rows;                            // M^(2^i)
  std::array<Map, 61> columns;                         // M^(2^(67 + i)): subsequence numbers below 2^61
  std::array<std::array<Vector, 16>, kBits / 4> next;  // columns[0], four bits at a time
  Vector next_column(const Vector& x) const {
    Vector y{};
    for (std::size_t k = 0; k < next.size(); ++k) y = y ^ next[k][x[k / 8] >> (4 * (k % 8)) & 15u];
    return y;
  }
};

const Powers& powers() {
  static const Powers all = [] {
    Powers p;
    Map m;
    for (std::size_t j = 0; j < kBits; ++j) {
      Vector bit{};
      bit[j / 32] = 1u << (j % 32);
      m.columns[j] = step(bit);
    }
    for (int i = 0; i < kApart + static_cast<int>(p.columns.size()); ++i) {
      if (i < static_cast<int>(p.rows.size())) p.rows[static_cast<std::size_t>(i)] = m;
      if (i >= kApart) p.columns[static_cast<std::size_t>(i - kApart)] = m;
      Map square;
      for (std::size_t j = 0; j < kBits; ++j) square.columns[j] = m(m.columns[j]);
      m = square;
    }
    for (std::size_t k = 0; k < p.next.size(); ++k) {
      for (std::size_t bits = 0; bits < 16; ++bits) {
        Vector y{};
        for (std::size_t b = 0; b < 4; ++b) {
          if (bits >> b & 1) y = y ^ p.columns[0].columns[4 * k + b];
        }
        p.next[k][bits] = y;
      }
    }
    return p;
  }();
  return all;
}

// cuRAND's start: the author's words, stirred by the two halves of the seed.
XorwowState seeded(std::uint64_t seed) {
  const std::uint32_t t0 = 1099087573u * (static_cast<std::uint32_t>(seed) ^ 0xaad26b49u);
  const std::uint32_t t1 = 2591861531u * (static_cast<std::uint32_t>(seed >> 32) ^ 0xf7dcefddu);
  return {{123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0}, 6615241u + t1 + t0};
}

}  // namespace

XorwowState xorwow_state(std::uint64_t seed, std::uint64_t row, std::uint64_t column) {
  const Powers& p = powers();
  XorwowState s = seeded(seed);
  for (std::size_t i = 0; row >> i != 0; ++i) {
    if (row >> i & 1) s.v = p.rows[i](s.v);
    if (i == 63) break;
  }
  ensure(column >> p.columns.size() == 0, "rand: xorwow has no subsequence {}", column);
  for (std::size_t i = 0; column >> i != 0; ++i) {
    if (column >> i & 1) s.v = p.columns[i](s.v);
  }
  s.d += XorwowColumns::kWeyl * static_cast<std::uint32_t>(row);
  return s;
}

void fill_xorwow(const State& state, Draw draw, std::uint64_t index, std::int64_t n, void* out) {
  const bool pairs = draw == Draw::OpenClosedDouble;
  const auto blocks =
      pairs ? column_blocks(kColumns, 2, state.origin, index, n) : column_blocks(kColumns, 1, 0, state.position, n);
  const std::int64_t size = pairs ? sizeof(double) : sizeof(std::uint32_t);
  const Powers& p = powers();
  parallel_for(static_cast<std::int64_t>(blocks.size()), true, [&](std::int64_t b) {
    const ColumnBlock& block = blocks[static_cast<std::size_t>(b)];
    XorwowState s = xorwow_state(state.seed, block.row, kColumns * state.stream + block.begin);
    XorwowColumns columns;
    columns.d = s.d;
    for (std::uint64_t c = 0; c < block.end - block.begin; ++c) {
      for (std::size_t w = 0; w < 5; ++w) columns.v[w][c] = s.v[w];
      s.v = p.next_column(s.v);
    }
    xorwow_rows(columns, draw, static_cast<std::int64_t>(block.end - block.begin), block.count, kColumns,
                static_cast<std::byte*>(out) + block.first * size);
  });
}

}  // namespace trn::rand::host
