// Plan: an einsum made ready for operands of given types and strides. cuTENSOR: cutensorCreateContraction,
// cutensorCreateContractionTrinary, cutensorCreatePlan, cutensorContract; opt_einsum: contract_expression.
//
//   D = alpha einsum(op_1(A_1), op_2(A_2), ...) + beta op_C(C)
//
// Types: Float32, Float64, Complex64, Complex128, BFloat16, Float16, mixed at will; 16-bit types compute in Float32.
// D has the computing type, or 16 bits where that is Float32, or is complex. C has D's type and its labels in D's
// order; its strides may differ. Strides of operands may be 0 or negative. beta = 0 never reads C, alpha = 0 reads no
// operand. D may be C exactly; any other overlap of D with an operand is refused.
//
// Accuracy. With g_v the bound of step v (k roundings of its sums, plus what its mode leaves out) and |T| the einsum of
// absolute values, |D - exact| <= bound (|alpha| |T| + |beta C|) elementwise, bound = prod (1 + g_v) - 1, for every
// mode but Exact, whose bound is of Frobenius norms: relative to the product of the operands' norms times sqrt(extent)
// for each label that is summed out of one operand. Barring over- and underflow. D here is what its operator reads;
// errors of operators' own functions are not counted. The same bits for any number of threads, each time.
//
// Targets. The plan takes modes whose bound keeps the target. An execution reads the operands, on a device too, and of
// C what beta reads: where words or sums may overflow, or underflow costs too much, it takes the cheapest mode for all
// steps that keeps the target for these operands, with a plan and a workspace made there and then; for NaN and
// infinities that is Exact. Where there is none it is refused, and D is as it was. Plans with constants do not change
// their modes. The bound then counts what underflow can lose.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/precision.hpp>
#include <trn/tensor/expression.hpp>
#include <trn/tensor/path.hpp>
#include <trn/tensor/slice.hpp>
#include <trn/tensor/types.hpp>

namespace trn::tensor {

struct Operand {
  Shape shape;
  Strides strides;
  DType dtype = DType::Float32;
  Unary op = Unary::Identity;
  bool constant = false;  // its values are given when the plan is made
  friend bool operator==(const Operand&, const Operand&) = default;
};
[[nodiscard]] Operand operand_of(const TypedView& view, Unary op = Unary::Identity);

// A value: equality is the key of the plan cache.
struct Description {
  Expression expression;
  std::vector<Operand> operands;
  Operand output;                 // output.op is applied to what is written
  std::optional<Operand> c = {};  // none: C is D
  Precision precision = {};       // of the whole result
  PathOptions path = {};
  std::int64_t memory_bytes = 0;  // of intermediates, at most; 0: no limit. Kept by slicing labels
  friend bool operator==(const Description&, const Description&) = default;
};

// One step of a plan. The labels are the expression's names.
struct Step {
  std::string labels;     // "abk, kc -> abc"
  std::string folded;     // "H - | M 24x16 | N 8 | K 72"
  std::string algorithm;  // "direct", "gemm", "dot", "blas", "product", "skinny product", "reduce", "pointwise", ...
  Mode mode = Mode::Native;
  double flops = 0, bytes = 0, bound = 0, seconds = 0;  // seconds: the path's model of host or device
};

// What Plan::measure found, in Frobenius norms: ||D - exact|| <= error, and ||D|| of what was written. The norms of all
// operands and intermediates are taken as the steps read them, and errors run along (docs/einsum.md), so that sums that
// cancel and products that are small count as what they are. Barring over- and underflow and operators' own functions;
// a D that is not finite, or a norm whose square overflows float32 on a device, makes the error infinite.
struct Measured {
  double error = 0, norm = 0;
};

struct EinsumResult {
  Accuracy accuracy;  // bound as above, with what Exact steps found for these operands
  std::optional<Measured> measured = {};
};

class Plan {
 public:
  // Throws InvalidArgument and NotImplemented. `constants`: one view for each operand that is constant, in order; steps
  // that need nothing else are done here, once.
  Plan(const Executor& executor, const Description& description, std::span<const TypedView> constants = {});

  [[nodiscard]] const Executor& executor() const;
  [[nodiscard]] const Description& description() const;
  [[nodiscard]] std::span<const Step> steps() const;  // of one pass
  [[nodiscard]] const SliceSet& slices() const;
  [[nodiscard]] double flops() const;        // 2 per product and addition; all passes
  [[nodiscard]] double moved_bytes() const;  // operands read and results written, once for each step
  // The steps' model added up, good for comparing plans. A device's time is the estimate of plan_program().
  [[nodiscard]] double seconds() const;
  // Intermediates and packing buffers. Modes other than Native allocate more on their own.
  [[nodiscard]] std::int64_t workspace_bytes() const;
  [[nodiscard]] std::int64_t intermediate_bytes() const;  // what memory_bytes limits
  [[nodiscard]] Accuracy accuracy() const;                // a priori; mode: the least accurate of the steps
  [[nodiscard]] std::string explain() const;              // one line per step

  // Views of the shapes, strides and types of the description, those that are not constant. `c` only where the
  // description has one.
  EinsumResult execute(std::span<const TypedView> operands, const TypedView& out, Scalars scalars = {},
                       const TypedView* c = nullptr) const;
  // The same with the caller's workspace, at least workspace_bytes() on the executor: allocates nothing, but for
  // targets.
  EinsumResult execute(std::span<const TypedView> operands, const TypedView& out, Scalars scalars, const TypedView* c,
                       const Buffer& workspace) const;

  // The same, and what its error is at most. Reads every operand of every step once more; on a device that is a sum in
  // the same program, or on the host where the steps are Exact in float64. NotImplemented for plans with constants and
  // for results with an operator that may enlarge errors (sqrt, exp, ...; of complex numbers tanh, sin, ... too).
  EinsumResult measure(std::span<const TypedView> operands, const TypedView& out, Scalars scalars = {},
                       const TypedView* c = nullptr) const;

  struct State;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  EinsumResult run(std::span<const TypedView> operands, const TypedView& out, Scalars scalars, const TypedView* c,
                   const Buffer& workspace, class Watch* watch) const;

  std::shared_ptr<const State> state_;
};

// |D - exact| <= out elementwise (host memory of D's shape): the bound of the plan times the einsum of absolute values,
// computed in double. Every mode but Exact; NotImplemented for results that measure() refuses.
void componentwise_bound(const Plan& plan, std::span<const TypedView> operands, Scalars scalars, const TypedView* c,
                         const View<double>& out);

}  // namespace trn::tensor
