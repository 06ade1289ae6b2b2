// Precision Exact from the call to the result: statistics, plan, kernel, finish.
#include "exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <trn/blas/exactness.hpp>

#include "exact/finish.hpp"
#include "exact/plan.hpp"
#include "exact/product.hpp"
#include "gemm_accuracy.hpp"

namespace trn::blas {

namespace {

using Complex = std::complex<double>;
using exact::Operand;
using exact::OperandSide;

constexpr KernelTable<ExactArgs> table(const char* operation) {
  return {operation, host::exact_product, device::exact_product};
}

// The host's dgemm counts in int; a device needs it only for componentwise bounds.
void require_extents(const char* operation, const Executor& executor, const GemmArgs& g, bool empty, bool bounds) {
  const std::int64_t planes = is_complex(g.in) ? 2 : 1,
                     longest = std::max({planes * g.m, g.n, empty ? 0 : planes * g.k});
  constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();
  require(
      longest <= kIntMax || (executor.family() == Family::Device && !bounds),
      "{}: {} x {} x {} in precision 'exact' needs extents of {}, the host BLAS takes at most {}; split the operation",
      operation, g.m, g.n, g.k, longest, kIntMax);
}

// A and B are not read.
bool is_empty(const GemmArgs& g) { return g.k == 0 || g.alpha == Complex(0); }

// A product with its own transpose.
bool is_square_of_a(const GemmArgs& g) { return g.a == g.b && g.m == g.n && g.am == g.bn && g.ak == g.bk; }

std::vector<double> row_norms(const Operand& s, double& top, bool& finite) {
  std::vector<double> norms(s.norms.size());
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const auto in_units = [&](long double x) { return static_cast<double>(std::ldexp(x, s.exponent[i])); };
    norms[i] = in_units(s.norms[i].two);
    if (s.special[i] != 0)
      norms[i] = std::numeric_limits<double>::infinity(), finite = false;
    else
      top = std::max(top, in_units(s.norms[i].largest));
  }
  return norms;
}

}  // namespace

ExactOperands::ExactOperands(const Executor& executor, const GemmArgs& g)
    : a(executor, g.in, g.a, g.m, is_empty(g) ? 0 : g.k, g.am, g.ak, g.conj_a, OperandSide::Left),
      b(executor, g.in, g.b, g.n, is_empty(g) ? 0 : g.k, g.bn, g.bk, g.conj_b, OperandSide::Right) {
  a.measure();
  if (is_square_of_a(g))
    b.measure_as(a);
  else
    b.measure();
}

ExactOperands::ExactOperands(const Executor& executor, const GemmArgs& g, std::vector<std::byte> a_in_full)
    : in_full(std::move(a_in_full)),
      a(Executor::host(), g.in, in_full.data(), g.m, g.k, g.k, 1, g.conj_a, OperandSide::Left),
      b(executor, g.in, g.b, g.n, g.k, g.bn, g.bk, g.conj_b, OperandSide::Right) {
  a.measure();
  b.measure();
}

GemmNorms norms_of(const ExactOperands& operands) {
  GemmNorms n;
  n.a = row_norms(operands.a, n.a_top, n.finite);
  n.b = row_norms(operands.b, n.b_top, n.finite);
  return n;
}

Accuracy exact_gemm(const char* operation, const Executor& executor, const GemmArgs& g,
                    const std::optional<MatrixView<double>>& componentwise, double target, const ExactRegion& region) {
  require_mode(operation, Mode::Exact, g.in, executor.family());
  require_extents(operation, executor, g, is_empty(g), componentwise.has_value());  // before anything is read
  return exact_gemm(operation, executor, g, ExactOperands(executor, g), componentwise, target, region);
}

double allowed_scaling(DType in) { return (real_of(in) == DType::Float64 ? 0x1.0001p-53 : 0x1.0001p-24) / 4; }

void require_exactness(const char* operation, const Executor& executor) {
  if (const Exactness probe = probe_exactness(executor); !probe.exact) {
    throw DeviceError(
        fmt::format("{}: precision 'exact' is not possible on '{}': {}", operation, executor.name(), probe.reason),
        "not-exact");
  }
}

void exact_product(const char* operation, const Executor& executor, const ExactArgs& args) {
  dispatch(table(operation), executor, args);
}

namespace {

Accuracy run(const char* operation, const Executor& executor, const GemmArgs& g, const ExactOperands& operands,
             const exact::Reach& reach, bool even, const std::optional<MatrixView<double>>& componentwise,
             double target, const ExactRegion& region) {
  require_mode(operation, Mode::Exact, g.in, executor.family());
  const double factor = is_complex(g.in) ? std::sqrt(2.0) : 1,
               rounding = real_of(g.in) == DType::Float64 ? 0x1.0001p-53 : 0x1.0001p-24;
  // Without a target scaling costs at most a quarter of the rounding of a result as large as the norms allow. 2^-30
  // covers what norms are above and below the truth (norm_excess).
  const double allowed = target > 0 ? (target - factor * rounding) * (1 - 0x1p-30) / factor : allowed_scaling(g.in);
  const bool empty = is_empty(g);
  require_extents(operation, executor, g, empty, componentwise.has_value());
  const Operand &a = operands.a, &b = operands.b;
  const exact::Plan plan = exact::make_plan(a, b, reach, allowed, even);
  if (target > 0 && !(plan.scaling <= allowed))
    refuse_target(operation, g.in, executor, target, factor * (plan.scaling + rounding));
  if (!empty) require_exactness(operation, executor);
  exact::Product product(a, b, plan, region.terms, target == 0);
  // A result that underflows has a larger bound than the plan promised: with a target C is kept until that is known.
  exact::Finish finish(executor, g, product, componentwise, region, target > 0 || g.c == g.a || g.c == g.b);
  const exact::Partition partition(g.m, g.n, a.depth(), a.planes(), region.mirrored);
  const auto consume = [&](exact::Source& source) {
    partition.for_blocks(g.m, g.n, region.lower, [&](const exact::Block& block) { finish.block(source, block); });
  };
  const ExactArgs args{g,
                       empty ? 0 : plan.moduli,
                       std::max(plan.bits_a, plan.bits_b),
                       a,
                       b,
                       plan.shift_a,
                       plan.shift_b,
                       region.lower && !region.mirrored,
                       partition,
                       consume};
  exact_product(operation, executor, args);
  if (target > 0 && !(finish.bound() <= target)) refuse_target(operation, g.in, executor, target, finish.bound());
  finish.store();
  return {Mode::Exact, plan.moduli, finish.bound()};
}

}  // namespace

Accuracy exact_gemm(const char* operation, const Executor& executor, const GemmArgs& g, const ExactOperands& operands,
                    const std::optional<MatrixView<double>>& componentwise, double target, const ExactRegion& region) {
  // Equal integers on both sides need to be made once.
  const bool even = region.lower && !region.mirrored && is_square_of_a(g);
  return run(operation, executor, g, operands, exact::reach_of(operands.a, operands.b), even, componentwise, target,
             region);
}

Accuracy exact_gemm_part(const char* operation, const Executor& executor, const GemmArgs& g,
                         const ExactOperands& operands, const exact::Reach& reach, bool even) {
  return run(operation, executor, g, operands, reach, even, {}, 0, {});
}

}  // namespace trn::blas
