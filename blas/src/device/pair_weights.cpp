// Weights in three words: see pair_weights.hpp.
#include "pair_weights.hpp"

#include <cmath>

namespace trn::blas::device {

using namespace trn::tile;

std::vector<float> energy_words(std::span<const double> energies, double largest) {
  int m = 0;  // largest < 2^m
  (void)std::frexp(largest, &m);
  const double coarse = std::ldexp(1.0, m - 12), fine = std::ldexp(1.0, m - 24);
  std::vector<float> words(3 * energies.size());
  for (std::size_t i = 0; i < energies.size(); ++i) {
    const double a = coarse * std::nearbyint(energies[i] / coarse), b = fine * std::nearbyint((energies[i] - a) / fine);
    words[i] = static_cast<float>(a);
    words[i + energies.size()] = static_cast<float>(b);
    words[i + 2 * energies.size()] = static_cast<float>((energies[i] - a) - b);
  }
  return words;
}

void pair_weights(Builder& b, const TilePool& pool, const WeightInput& in, std::int64_t first, std::int64_t count,
                  const Weight& to, const std::function<void()>& pause) {
  const std::int64_t height = in.columns[0].partitions, pairs = in.second[0].dims.back().size,
                     nvir = in.rows[0].dims.back().size;
  const auto fresh = [&](DType dtype = DType::Float32) { return pool.take(height, {pairs, count, nvir}, dtype); };
  const auto on = [&](const Access& x, const Access& y, AluOp op) {
    const Word z = fresh();
    b.tensor_tensor(z, x, y, op, Engine::GpSimd);
    return z;
  };
  const auto product = [&](const Access& x, const Access& y) { return on(x, y, AluOp::Multiply); };
  const auto scalar = [&](ActFunction f, const Access& x, double scale = 1, const ScalarOrTile& bias = 0.0,
                          DType dtype = DType::Float32) {
    const Word z = fresh(dtype);
    b.activation(z, f, x, {.bias = bias, .scale = scale});
    return z;
  };
  const auto spread = [](Access x, std::vector<Dim> dims) {
    x.dims = std::move(dims);
    return x;
  };
  const auto of_row = [&](const Access& x) { return spread(x, {{0, pairs}, {0, count}, {1, nvir}}); };
  const auto of_column = [&](const Access& x) {
    return spread(x(all, ds(first, count)), {{0, pairs}, {1, count}, {0, nvir}});
  };

  // e_i + e_j of every pair, then e_b + (e_a - e_i - e_j), exact, for A and B; (e_a + e_b) - (e_i + e_j) for C.
  const auto small = [&](const Access& x, const Access& y, AluOp op, const Shape& extent) {
    const Word z = pool.take(height, extent);
    b.tensor_tensor(z, x, y, op, Engine::GpSimd);
    return z;
  };
  const auto occupied = [&](std::size_t w) {
    return small(spread(in.first[w], {{0, pairs}}), in.second[w], AluOp::Add, {pairs});
  };
  const auto words = [&](std::size_t w) {
    const Access column = spread(in.columns[w](all, ds(first, count)), {{0, pairs}, {1, count}});
    const Word shifted = small(column, spread(occupied(w), {{1, pairs}, {0, count}}), AluOp::Subtract, {pairs, count});
    return on(of_row(in.rows[w]), spread(shifted, {{count, pairs}, {1, count}, {0, nvir}}), AluOp::Add);
  };
  // Words that are done with go back to the pool at once.
  const Word seed = fresh(DType::TFloat32);
  Word da = words(0), db = words(1), sum = on(da, db, AluOp::Add);
  pause();
  b.activation(seed, ActFunction::Rsqrt, sum);
  sum = {};
  const Word p = scalar(ActFunction::Square, seed);
  Word p1 = scalar(ActFunction::Copy, p, 1, 0.0, DType::TFloat32), p2 = on(p, p1, AluOp::Subtract);
  Word d = product(da, p1), low = product(db, p2), second = product(da, p2), third = product(db, p1);
  da = db = p1 = p2 = {};
  pause();
  d = on(on(scalar(ActFunction::Copy, d, -1, in.one), second, AluOp::Subtract), third, AluOp::Subtract);
  second = third = {};
  const Word dc = on(on(of_row(in.rows[2]), of_column(in.columns[2]), AluOp::Add),
                     spread(occupied(2), {{1, pairs}, {0, count}, {0, nvir}}), AluOp::Subtract);
  low = on(low, product(dc, p), AluOp::Add);
  const Word whole = on(d, low, AluOp::Subtract);  // d rounded: good enough for its square and cube
  const Word powers =
      product(of_column(in.column_powers), spread(in.row_powers, {{nvir, pairs}, {0, count}, {1, nvir}}));
  b.tensor_tensor(to.w, seed, powers, AluOp::Multiply, Engine::GpSimd);
  pause();
  b.activation(to.a, ActFunction::Copy, d, {.scale = 0.5});
  const Word half = scalar(ActFunction::Copy, d, 0.5), low_half = scalar(ActFunction::Copy, low, 0.5);
  const Word fine =
      product(scalar(ActFunction::Square, whole), scalar(ActFunction::Copy, whole, 0.3125, in.three_eighths));
  b.tensor_tensor(to.b, on(half, to.a, AluOp::Subtract), on(fine, low_half, AluOp::Subtract), AluOp::Add,
                  Engine::GpSimd);
}

}  // namespace trn::blas::device
