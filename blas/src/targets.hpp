// How the products of level 3 beside gemm keep a target error. On a device the call reads the operands' sizes, takes
// the cheapest mode whose bound meets the target, and Exact where none does. On the host the kernels are made of gemms,
// which do the same.
#pragma once

#include "exact_level3.hpp"
#include "gemm_accuracy.hpp"

namespace trn::blas {

// Half of a target, so that two products in a row, the second on top of the first, keep it: 2 x + x^2 <= target.
[[nodiscard]] Precision half_of(const Precision& precision);

// A kernel that is made of gemms may be refused a target of its own making: the message of the operation says what was
// asked for.
template <class F> void naming_target(const char* operation, const Precision& precision, F run) {
  if (!precision.has_target()) return run();
  try {
    run();
  } catch (const TargetRefused& refused) {
    const double asked = precision.target_error();
    if (refused.target() == asked) throw;
    throw TargetRefused(
        fmt::format("{}: no precision has a bound of {} for these operands: {}", operation, asked, refused.what()),
        asked);
  }
}

// What level 3 asks of its operands before it runs: their sizes but for C's, terms of a sum, how many products are
// added up, and the operands of the exact product, unless it has none.
struct Level3Sizes {
  ProductSizes sizes;
  std::int64_t terms = 0;
  int products = 1;
  std::optional<ExactOperands> operands = {};
};

// Whether the host's kernel adds up several products: then their sum is looked at before the first of them is made.
enum class HostSum { OneProduct, SeveralProducts };

// A call that computes nothing has no error. Its mode is the one asked for; float64 on a device has Exact alone.
inline Accuracy no_work(const Executor& executor, DType dtype, const Precision& precision) {
  const bool only_exact = executor.family() == Family::Device && real_of(dtype) == DType::Float64;
  const Mode mode = !precision.has_target() ? precision.mode() : only_exact ? Mode::Exact : Mode::Native;
  return {mode, passes_of(mode), 0};
}

// The bounds of C's elements where the kernels see C or its transpose.
inline Bounds turned(const Bounds& bounds, bool transposed) {
  return bounds && transposed ? bounds->transposed() : bounds;
}
// A call that changes nothing has no error: zero where exists(i, j).
template <class Exists> void no_errors(const Bounds& bounds, const Exists& exists) {
  if (!bounds) return;
  for (std::int64_t i = 0; i < bounds->rows(); ++i) {
    for (std::int64_t j = 0; j < bounds->columns(); ++j) {
      if (exists(i, j)) bounds->data()[i * bounds->row_stride() + j * bounds->column_stride()] = 0;
    }
  }
}

// Bounds of elements come from the exact product.
template <class Args>
void require_bounds(const char* operation, const Executor& executor, const Args& args, const Bounds& bounds) {
  if (!bounds || takes_exact(executor, args.dtype, args.precision)) return;
  fail<NotImplemented>("{}: componentwise bounds are those of precision 'exact'; ask for it, or for none", operation);
}

// Runs a checked product. `measure` gives a Level3Sizes; it is called for targets on a device, and on the host for sums
// of products. `read_c` adds what beta reads of C to the sizes. Each of them reads an operand once.
template <class Args, class Measure, class ReadC>
void run_level3(const KernelTable<Args>& table, const Executor& executor, Args args, const Bounds& bounds,
                ExactFunction<Args> exact, const Measure& measure, const ReadC& read_c,
                HostSum sum = HostSum::OneProduct) {
  require_bounds(table.operation, executor, args, bounds);
  const Precision asked = args.precision;
  naming_target(table.operation, asked, [&] {
    const bool host = executor.family() == Family::Host;
    if (!asked.has_target() || (host ? sum == HostSum::OneProduct : real_of(args.dtype) == DType::Float64)) {
      return dispatch_product(table, executor, args, exact, bounds);
    }
    Level3Sizes found = measure();
    GemmArgs g{};
    g.in = g.out = args.dtype, g.k = found.terms;
    const auto chosen = cheapest_mode(executor.family(), g, found.sizes, asked.target_error(), found.products,
                                      [&] { read_c(found.sizes); });
    if (!chosen) {
      *args.accuracy = exact(table.operation, executor, args, found.operands ? &*found.operands : nullptr, bounds);
      return;
    }
    args.precision = chosen->mode;
    dispatch(table, executor, args);
    *args.accuracy = *chosen;
  });
}

}  // namespace trn::blas
