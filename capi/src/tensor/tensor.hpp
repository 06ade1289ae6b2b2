// The bodies of cuTENSOR's routines: everything that capi/api/tensor.api names. An operation descriptor has the
// operands' shapes, types, modes and operators; a plan is that for one device. Scalars are in host memory, of the
// type that OPERATION_DESCRIPTOR_SCALAR_TYPE says. Work is done in the stream that the call names, and waited for.
#pragma once

#include <array>
#include <vector>

#include <trn/tensor/block_sparse.hpp>
#include <trn/tensor/plan.hpp>

#include <trntensor.h>

#include "../blas/handle.hpp"

namespace trn::capi::tensor {
using Int = std::int64_t;
namespace tt = trn::tensor;
enum class Kind : std::uint8_t { Elementwise, Permutation, Contraction, Reduction, BlockSparse };
// An operand: which tensor, by which modes, through which operator.
struct Operand {
  std::vector<Int> extents, strides;
  trnDataType type;
  std::vector<std::int32_t> modes;
  tt::Unary op;
};
}  // namespace trn::capi::tensor

struct trntensorHandle : trnblasContext {
  using trnblasContext::trnblasContext;
};
struct trntensorTensorDescriptor {
  std::vector<std::int64_t> extents, strides;
  trnDataType type;
  bool packed;  // no strides were given
};
struct trntensorBlockSparseTensorDescriptor {
  trn::tensor::BlockTensor tensor;
  trnDataType type;
};
struct trntensorOperationDescriptor {
  trn::capi::tensor::Kind kind;
  std::vector<trn::capi::tensor::Operand> operands;  // those that are read; contractions and reductions: C last
  trn::capi::tensor::Operand result;
  trntensorOperator_t first = TRNTENSOR_OP_ADD, second = TRNTENSOR_OP_ADD;  // that join operands
  int compute = 0;
  bool packed_result = false;
  int tag = 0;
  std::vector<std::int64_t> pad_left = {}, pad_right = {};
  std::vector<std::byte> pad_value = {};
  std::shared_ptr<const trn::tensor::BlockDescription> blocks = {};  // of an operation on sparse blocks
};
struct trntensorPlan {
  trntensorOperationDescriptor operation;
  std::shared_ptr<const trn::tensor::Plan> contraction;       // null for other kinds
  std::shared_ptr<const trn::tensor::BlockPlan> sparse = {};  // null for other kinds
};
struct trntensorPlanPreference {
  trntensorAlgo_t algorithm;
  trntensorJitMode_t jit;
};

namespace trn::capi::tensor {

template <class D> [[nodiscard]] std::shared_ptr<D> look(const D* address) {
  auto found = alive<D>().get(address);
  require(found != nullptr, "a descriptor is {}",
          address ? "not alive: it was destroyed, or is something else" : "null");
  return found;
}
template <class D> void destroy(const D* descriptor) {
  if (descriptor) (void)look(descriptor), alive<D>().remove(descriptor);
}

using blas::Call;
struct Face : Statuses<trntensorStatus_t, 1, 7, 15, 3, 13, 14> {
  using Call = blas::Call;
  static auto find(trntensorHandle_t handle) { return living(handle); }
  static constexpr bool kNamesStream = true;
};
// The version of cuTENSOR whose functions these are.
[[nodiscard]] inline std::size_t get_version() { return 20300; }

}  // namespace trn::capi::tensor

#include "tensor_bodies.hpp"
