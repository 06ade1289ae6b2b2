// Steps of trntensor on a device: gathered into one program, then launched.
#pragma once

#include <complex>
#include <map>
#include <vector>

#include <trn/core/executor.hpp>
#include <trn/tile/launch.hpp>

#include "program.hpp"

namespace trn::tensor::device {

// Steps that become one program. Addresses identify memory; those in `inside` are made and used up by the steps, and
// may be used again for something else. A step reads what the last one before it wrote there.
class Batch {
 public:
  // Memory that only these steps see: nothing is bound to it.
  void keep_inside(const void* address) { inside_.push_back(address); }

  struct Call {
    const void* data[3] = {};
    std::complex<double> scale[3] = {1, 1, 1};
    void* d = nullptr;
  };
  void pointwise(host::PointwiseArgs args, const Call& call);
  void reduce(host::ReduceArgs args, const host::ReduceCall& call);
  void move(DType dtype, const Group& group, const void* a, void* d);
  struct Operands {
    const void *a, *b, *c;
    void* d;
    std::complex<double> alpha, beta;
  };
  void product(blas::ProductShape shape, const Operands& operands);
  void mttkrp(const MttkrpArgs& args, const Operands& operands, const void* z);

  [[nodiscard]] bool empty() const { return shape_.steps.empty(); }
  [[nodiscard]] const PlanShape& shape() const { return shape_; }
  void launch(const Executor& executor) const;

 private:
  int read(const void* address, DType dtype, std::initializer_list<const Group*> groups,
           std::int64_t FoldedIndex::*stride);
  int write(void* address, DType dtype, std::initializer_list<const Group*> groups);
  void add(StepShape step, std::initializer_list<std::complex<double>> factors);
  Factor kind_of(std::complex<double> value) const;
  // D as C, when it is C's memory exactly.
  int continued(const void* c, void* d, int c_memory, DType dtype, std::initializer_list<const Group*> groups);

  PlanShape shape_;
  std::vector<const void*> addresses_;        // by memory; null: inside
  std::map<const void*, int> inputs_, made_;  // the last one at an address
  std::vector<const void*> inside_;
  std::vector<std::complex<float>> factors_;
};

// A contraction on the device: which kernel computes it depends on its groups (see contract()).
struct ContractArgs {
  Folded folded;
  DType compute = DType::Float32;
  Mode mode = Mode::Native;
  bool conj_a = false, conj_b = false;
  DType in = DType::Float32;  // of A and B: the computing type, or 16 bits where that is Float32 and a sum is formed
  Unary a_op = Unary::Identity, b_op = Unary::Identity, result = Unary::Identity;  // of Float32; conjugation is above
  friend bool operator==(const ContractArgs&, const ContractArgs&) = default;
};
void contract(Batch& batch, const ContractArgs& args, const Batch::Operands& operands);
[[nodiscard]] const char* algorithm_of(const ContractArgs& args, const tile::Machine& machine);
[[nodiscard]] bool reads_any_order(const ContractArgs& args, const tile::Machine& machine);
[[nodiscard]] double bound_of(const ContractArgs& args, const tile::Machine& machine);
// Whether the kernel of this contraction applies an operator of an operand or of the result on its way.
[[nodiscard]] bool applies(const ContractArgs& args, Unary op);

}  // namespace trn::tensor::device
