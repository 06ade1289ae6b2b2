// Orthonormal columns on a device: see orthonormal_columns.hpp.
#include "device/orthonormal_columns.hpp"

#include <cmath>

#include <trn/blas/trsm.hpp>
#include <trn/solver/potrf_program.hpp>
#include <trn/tile/launch.hpp>

namespace trn::solver::device {

namespace {

constexpr int kMostPasses = 10;
constexpr double kUnit = 0x1p-24;

// The pivots of G's factorisation, in place below its diagonal; empty where one is not positive.
std::vector<float> factored(const Executor& executor, const Matrix<float>& g) {
  const std::int64_t n = g.rows();
  const Array<float> pivots(executor, {n});
  tile::launch(executor, potrf_program, PotrfShape{n, 1, n},
               {{"a", g.data()}, {"u", g.data()}, {"pivots", pivots.data()}});
  std::vector<float> values = pivots.to_host();
  for (const float p : values) {
    if (!(p > 0) || !std::isfinite(p)) return {};
  }
  return values;
}

}  // namespace

bool orthonormalise(const Executor& executor, const Matrix<float>& y, std::int64_t k) {
  const std::int64_t columns = y.columns();
  const Matrix<float> g(executor, columns, columns);
  const std::vector<float> ones(static_cast<std::size_t>(columns - k), 1.0F);
  double shift = 0;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    symmetric_product(executor, Op::T, 1, y, y, 0, g);
    if (!ones.empty()) set_diagonal(g, ones, k);
    std::vector<float> d = diagonal_of(g, k);
    double trace = 0, departs = 0;
    for (const float value : d) {
      trace += value;
      if (!(std::abs(value - 1) <= departs)) departs = std::abs(value - 1);
    }
    if (!std::isfinite(trace)) return false;
    if (shift > 0) {
      for (float& value : d) value = static_cast<float>(value + shift * trace);
      set_diagonal(g, d);
    }
    const std::vector<float> pivots = factored(executor, g);
    if (pivots.empty()) {
      shift = shift > 0 ? 10 * shift : 20 * kUnit;
      if (shift > 1e-3) return false;
      continue;
    }
    blas::trsm<float>(executor, Side::Right, Uplo::Lower, Op::T, Diag::NonUnit, 1.0F, g.view(), y.view(),
                      {Mode::Tf32x3});
    // The squares of L off its diagonal sum to trace(G) minus the pivots.
    double off = 0;
    for (std::int64_t i = 0; i < k; ++i) off += d[static_cast<std::size_t>(i)] - pivots[static_cast<std::size_t>(i)];
    if (shift == 0 && departs <= 0.25 && off <= 0.0625) return true;
    shift = 0;
  }
  return false;
}

}  // namespace trn::solver::device
