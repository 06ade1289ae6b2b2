// The kernels of every trnfft operation, both families: the only file that names both.
//
// A plan is built once by its executor's family (fft.plan) into a Body, which then executes many times (fft.c2c,
// fft.r2c, fft.c2r). A Body knows nothing of views: it gets addresses that the entry point has checked.
#pragma once

#include <memory>
#include <vector>

#include <trn/core/dispatch.hpp>
#include <trn/core/dtype.hpp>
#include <trn/fft/plan.hpp>

namespace trn::fft {

// A Description after its entry point: strides count real elements (an interleaved complex element is two), extents are
// >= 1, no dimension of extent 1 is left in `batch`, and adjacent batch dimensions that can be one are one. Empty
// batches never get here.
struct Problem {
  DType real = DType::Float32;  // or Float64
  Kind kind = Kind::ComplexToComplex;
  Direction direction = Direction::Forward;
  std::vector<Dimension> axes, batch;
  long double factor = 1;  // on the result, within 2^-63 of 1/N or 1/sqrt(N)
  Precision precision = {};
  Format input_format = Format::Interleaved, output_format = Format::Interleaved;
  bool operator==(const Problem&) const = default;
};
// What a product with the factor in the operands' type adds to the relative error: the factor's rounding, from long
// double by way of double, and the product's: at most 2 u (1 + 2^-10).
[[nodiscard]] inline double factor_bound(const Problem& p) { return p.factor == 1 ? 0 : 2.01 * unit_roundoff(p.real); }

// Real and imaginary address of element (0, 0, ...); im is null for a real side, re + 1 element for an interleaved one.
struct Side {
  void* re = nullptr;
  void* im = nullptr;
};

struct Operands {
  Side in, out;               // in is only written when in.re == out.re
  void* workspace = nullptr;  // workspace_bytes() of it, 64-byte aligned
};

namespace detail {
// A whole execution as one call, for plans of interleaved lines that need neither workspace nor threads.
struct Direct {
  void (*run)(const void* context, const void* in, void* out) = nullptr;  // null: there is none
  const void* context = nullptr;                                          // lives as long as the body
};
class Body {
 public:
  virtual ~Body() = default;
  [[nodiscard]] virtual Direct direct() const { return {}; }
  [[nodiscard]] virtual std::int64_t workspace_bytes() const = 0;
  [[nodiscard]] virtual Accuracy accuracy() const = 0;
  virtual void execute(const Executor& executor, const Operands& operands) const = 0;
};
}  // namespace detail

using BodyPointer = std::shared_ptr<const detail::Body>;
// Of a plan in one mode.
struct PlanBoundArgs {
  const Problem* problem;
  Mode mode;
};
struct ExecuteArgs {
  const detail::Body* body;
  Operands operands;
};

namespace host {
[[nodiscard]] BodyPointer build(const Executor& executor, const Problem& problem);
[[nodiscard]] double plan_bound(const Executor& executor, const PlanBoundArgs& args);
void execute(const Executor& executor, const ExecuteArgs& args);
}  // namespace host
namespace device {
[[nodiscard]] BodyPointer build(const Executor& executor, const Problem& problem);
[[nodiscard]] double plan_bound(const Executor& executor, const PlanBoundArgs& args);  // makes no programs
void execute(const Executor& executor, const ExecuteArgs& args);
}  // namespace device

inline constexpr KernelTable<Problem, BodyPointer> kPlan{"fft.plan", host::build, device::build};
inline constexpr KernelTable<PlanBoundArgs, double> kPlanBound{"fft.plan", host::plan_bound, device::plan_bound};
inline constexpr KernelTable<ExecuteArgs> kC2C{"fft.c2c", host::execute, device::execute};
inline constexpr KernelTable<ExecuteArgs> kR2C{"fft.r2c", host::execute, device::execute};
inline constexpr KernelTable<ExecuteArgs> kC2R{"fft.c2r", host::execute, device::execute};

}  // namespace trn::fft
