// The precision of functions beside plans (cosine transforms, convolutions, short-time transforms): which modes an
// executor offers, and the cheapest whose bound meets a target. Plans choose for themselves; here the bound is the
// function's, as its header states it.
#pragma once

#include <limits>
#include <span>

#include "views.hpp"

namespace trn::fft {

// Whether a function computes doubles on a device, in mode exact.
enum class ExactMode : std::uint8_t { NotOffered, Offered };

// The modes that `e` offers for the type, the cheapest first. Throws NotImplemented for a type or a mode that it does
// not offer.
[[nodiscard]] std::span<const Mode> offered_modes(const char* operation, const Executor& e, DType real,
                                                  const Precision& precision, ExactMode exact);
[[noreturn]] void target_missed(const char* operation, const Executor& e, DType real, double target, double best);

// The mode that `precision` asks for. bound(mode) is the function's bound for the operands at hand; it is asked for
// targets only. Throws NotImplemented for what the executor does not offer and InvalidArgument for a target that no
// mode meets.
template <Real T, class Bound> [[nodiscard]] Mode choose_mode(const char* operation, const Executor& e,
                                                              const Precision& precision, ExactMode exact,
                                                              const Bound& bound) {
  const std::span<const Mode> modes = offered_modes(operation, e, dtype_of<T>, precision, exact);
  if (!precision.has_target()) return precision.mode();
  double best = std::numeric_limits<double>::infinity();
  for (const Mode mode : modes) {
    const double here = bound(mode);
    if (here <= precision.target_error()) return mode;
    best = std::min(best, here);
  }
  target_missed(operation, e, dtype_of<T>, precision.target_error(), best);
}

// The bound that the plan of a description has in a mode that `e` offers; on a device no program is made for it.
[[nodiscard]] double plan_bound(const Executor& e, Description description, DType real, Mode mode);

}  // namespace trn::fft
