// Measured errors: norms of what the steps of an execution multiply, and what those say of the error of the result.
//
// With L^, R^ what a step reads, e_L, e_R bounds of their errors in Frobenius norm, g the step's bound, K the extents
// that it sums out of one operand, F the norm of C:
//
//   product    e = ||L^|| e_R + ||R^|| e_L + e_L e_R + g ||L^|| ||R^||
//   sum        e = sqrt(K) (e_L + g ||L^||)
//   the last   e = |alpha| (e_L + g ||L^||) + g |beta| F, after an operator that moves no two numbers apart
//
// by ||LR|| <= ||L|| ||R|| for every contraction (for each index of the batch, then summed) and | |L| |R| | the same.
// The a-priori bound has the products of the operands' norms where this has those of what was really computed.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <trn/core/array.hpp>

#include "../kernels.hpp"
#include "program.hpp"

namespace trn::tensor {

// ||op(A)|| of the elements that a group reaches, strides a; never below the exact one, infinite where a square
// overflows. On a device it is a step of the batch that is given, or a program of its own.
class Norm {
 public:
  Norm(const Executor& executor, Group group, DType dtype, Unary op, const void* data, device::Batch* batch = nullptr);
  [[nodiscard]] double value() const;  // after the batch has run

 private:
  double known_ = 0, growth_ = 0, lost_ = 0;
  std::unique_ptr<Buffer> sums_;
  DType dtype_ = DType::Float32;
  std::int64_t count_ = 0;
};

// |op(x) - op(y)| <= |x - y| in this type: the result is as far from the exact one as its argument, at most.
[[nodiscard]] bool keeps_distance(Unary op, DType dtype);

// Watches the passes of one execution.
class Watch {
 public:
  explicit Watch(const Description& description);
  // C as the pass reads it, before anything runs.
  void begin(const Executor& executor, const std::vector<ProgramStep>& steps, const void* c, Scalars scalars);
  void before(const Executor& executor, const ProgramStep& step, const std::array<const void*, 3>& operands,
              device::Batch* batch);
  void after(const ProgramStep& step, double bound);
  void end();  // of the pass: the batch has run
  [[nodiscard]] Measured result(const Executor& executor, const TypedView& d) const;

 private:
  struct Record {
    const ProgramStep* step;
    std::vector<Norm> norms;
    double bound = 0;
  };
  const Description& description_;
  Scalars scalars_;
  double c_norm_ = 0;
  std::vector<Record> records_;
  double error_ = 0;  // of all passes
};

}  // namespace trn::tensor
