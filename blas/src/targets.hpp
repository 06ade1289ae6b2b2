// How the products of level 3 beside gemm keep a target error. On a device the door looks at the norms of the operands, takes the cheapest mode whose
// bound meets the target, and Exact where none does. On the host the kernels are made of gemms, which do the same.
#pragma once

#include <string_view>

#include "exact_level3.hpp"
#include "gemm_accuracy.hpp"

namespace trn::blas {

// Half of a target, so that two products in a row, the second on top of the first, keep it: 2 x + x^2 <= target.
[[nodiscard]] Precision half_of(const Precision& precision);

// A kernel that is made of gemms may report a target of its own making: the message of the operation says what was asked for.
template <class F> void naming_target(const char* operation, const Precision& precision, F run) {
  if (!precision.has_target()) return run();
  try {
    run();
  } catch (const InvalidArgument& e) {
    if (std::string_view(e.what()).find(fmt::format("bound of {} ", precision.target_error())) != std::string_view::npos) throw;
    fail<InvalidArgument>("{}: no precision has a bound of {} for these operands: {}", operation, precision.target_error(), e.what());
  }
}

// Runs a checked product of `terms` terms. `norms` gives the norms of its operands, empty where nothing is multiplied.
template <class Args, class Norms>
void run_level3(const KernelTable<Args>& table, const Executor& executor, Args args, Accuracy (*exact)(const char*, const Executor&, const Args&),
                std::int64_t terms, const Norms& norms) {
  const Precision asked = args.precision;
  naming_target(table.operation, asked, [&] {
    if (!asked.has_target() || executor.family() == Family::Host || real_of(args.dtype) == DType::Float64) {
      return dispatch_product(table, executor, args, exact);
    }
    GemmArgs g{};
    g.in = g.out = args.dtype, g.k = terms;
    const auto chosen = cheapest_mode(executor.family(), g, norms(), asked.target_error());
    if (!chosen) {
      *args.accuracy = exact(table.operation, executor, args);
      return;
    }
    args.precision = chosen->mode;
    dispatch(table, executor, args);
    *args.accuracy = *chosen;
  });
}

}  // namespace trn::blas
