// Modes and targets of functions: see function_precision.hpp.
#include "function_precision.hpp"

#include <trn/core/enumerators.hpp>

#include "problem.hpp"

namespace trn::fft {

std::span<const Mode> offered_modes(const char* operation, const Executor& e, DType real, const Precision& precision,
                                    ExactMode exact) {
  operands::check_enumerator(operation, precision);
  static constexpr Mode kHost[] = {Mode::Native}, kExact[] = {Mode::Exact};
  static constexpr Mode kSingle[] = {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Bf16x6};
  const bool any = precision.has_target();
  const Mode mode = precision.mode();
  if (e.family() == Family::Host) {
    if (any || mode == Mode::Native) return kHost;
    fail<NotImplemented>(
        "{}: precision '{}' is not offered on the host, which computes in the operands' own type; use native or a "
        "target",
        operation, name(mode));
  }
  if (real == DType::Float64) {
    if (exact == ExactMode::NotOffered) {
      fail<NotImplemented>("{}: executor '{}' computes this in float32 only, not in float64; use float, or the host",
                           operation, e.name());
    }
    if (any || mode == Mode::Exact) return kExact;
    fail<NotImplemented>(
        "{}: executor '{}' computes float64 in mode exact only, not {}; ask for Mode::Exact, or use float or the host",
        operation, e.name(), name(mode));
  }
  if (!any && mode == Mode::Exact) {
    fail<NotImplemented>(
        "{}: executor '{}' has mode exact for float64 only; use native, tf32, bf16, tf32x3 or bf16x6 for float32",
        operation, e.name());
  }
  return kSingle;
}

void target_missed(const char* operation, const Executor& e, DType real, double target, double best) {
  fail<InvalidArgument>(
      "{}: an error of {:.3g} is asked for, but the modes of executor '{}' for {} reach {:.3g} here; ask for no less{}",
      operation, target, e.name(), name(real), best, real == DType::Float64 ? "" : ", or use float64");
}

double plan_bound(const Executor& e, Description description, DType real, Mode mode) {
  if (is_empty(description)) return 0;
  description.precision = mode;
  const Problem problem = make_problem(description, real);
  return ask(kPlanBound, e, {&problem, mode});
}

}  // namespace trn::fft
