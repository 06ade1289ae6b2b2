// MultiPlan: several results from the same tensors, with what they have in common computed once.
//
//   x = 2 einsum("ij,jk,kl->il", a, b, c) - einsum("ij,jk->ik", a, y)      a statement: factors times einsums, added up
//
// Statements run in order and may use the results of earlier ones. A product of more than two tensors is contracted in
// pairs along its path; a pair that occurs again, whatever its labels are called, is computed once and kept. Results
// that are not asked for, and pairs, are temporaries in a workspace that they share. opt_einsum: shared_intermediates;
// cuTensorNet: the gradient and several expectation values of a network.
//
// Accuracy of a result: |x - exact| <= bound X elementwise, X the same statements on absolute values; barring over- and
// underflow, for every mode but Exact, whose bound is of norms (plan.hpp). On a device all steps are one program and
// one launch, in Exact a launch for each step.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <trn/tensor/plan.hpp>

namespace trn::tensor {

struct NamedTensor {
  std::string name;
  Shape shape;
};
struct Term {
  double factor = 1;
  std::string text;                   // "ij,jk->ik"
  std::vector<std::string> operands;  // names
};
struct Statement {
  std::string result;
  std::vector<Term> terms;
  std::optional<Shape> shape = {};  // the terms' with axes of extent 1 added or left out; none: the terms'
};

struct MultiDescription {
  DType dtype = DType::Float64;     // of every tensor
  std::vector<NamedTensor> inputs;  // dense, row-major
  std::vector<NamedTensor> ones;    // tensors of ones, which the plan has itself
  std::vector<Statement> statements;
  std::vector<std::string> outputs;  // results that are asked for
  Precision precision = {};          // a mode, of every step
  PathOptions path = {};
};

class MultiPlan {
 public:
  // Throws InvalidArgument, naming the statement.
  MultiPlan(const Executor& executor, const MultiDescription& description);

  // Dense row-major tensors by name: all inputs and all outputs. An output that shares memory with an input or with
  // another output is refused (InvalidArgument), before anything is written; inputs may share memory.
  void execute(const std::map<std::string, TypedView>& tensors) const;

  [[nodiscard]] Shape shape(const std::string& output) const;
  [[nodiscard]] double bound(const std::string& output) const;
  [[nodiscard]] std::int64_t steps() const;   // einsums of one or two tensors
  [[nodiscard]] std::int64_t shared() const;  // pairs that were found again
  [[nodiscard]] double flops() const;
  [[nodiscard]] std::int64_t workspace_bytes() const;
  [[nodiscard]] std::string explain() const;  // one line per step

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

// The gradients of f = <w, einsum(text, operands)> with respect to every operand as one plan: inputs "0", "1", ... (the
// operands) and "w" (of the result's shape), outputs "d0", "d1", ... of the operands' shapes: where an extent of 1 is
// repeated, the gradient is the sum. Ellipses as in einsum. No label twice in an operand. Real types.
[[nodiscard]] MultiDescription gradients_of(std::string_view text, const std::vector<Shape>& shapes,
                                            DType dtype = DType::Float64);

}  // namespace trn::tensor
