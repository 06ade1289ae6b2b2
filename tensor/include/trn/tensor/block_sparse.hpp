// Block-sparse tensors and their contraction. cuTENSOR: cutensorCreateBlockSparseTensorDescriptor,
// cutensorCreateBlockSparseContraction, cutensorBlockSparseContract; the tensors of quantum numbers in DMRG.
//
// Every mode is cut into sections; a block is one section of each mode, and a tensor has the blocks that are listed.
// The others are zero. Blocks are dense, each at an address of its own with strides of its own.
//
//   D = alpha op_A(A) op_B(B) + beta op_C(C)      "ijk,kl->lij"
//
// The blocks of D are given: those are computed, a block that no product reaches is beta C; what the product has
// outside of them is left out. product_blocks() says which blocks it has. A label has the same sections wherever it
// occurs; no extent of 1 is repeated. A label twice in an operand is its diagonal, one that only one operand has and D
// lacks is summed. Types, operators, scalars and aliasing as in plan.hpp, D's blocks among each other too; C has D's
// blocks.
//
// The products of a block are added in the order of A's list, then of B's: the same bits each time and for any number
// of threads. Host: blocks of D are shared between threads. Devices: one program for every 256 products or so.
//
// Accuracy: |D - exact| <= bound (|alpha| |A||B| + |beta C|) elementwise, for every mode but Exact (plan.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/precision.hpp>
#include <trn/tensor/expression.hpp>
#include <trn/tensor/types.hpp>

namespace trn::tensor {

struct BlockTensor {
  std::vector<std::vector<std::int64_t>> sections;  // extents >= 1, by mode
  std::vector<std::vector<std::int64_t>> blocks;  // of each block: the number of its section in every mode. None twice
  DType dtype = DType::Float32;
  std::vector<Strides> strides = {};  // of each block; none: row-major
  Unary op = Unary::Identity;
  friend bool operator==(const BlockTensor&, const BlockTensor&) = default;

  [[nodiscard]] Shape shape(std::size_t block) const;
  [[nodiscard]] Strides strides_of(std::size_t block) const;
};

struct BlockDescription {
  Expression expression;  // of two operands
  BlockTensor a, b;
  BlockTensor output;                 // output.op is applied to what is written
  std::optional<BlockTensor> c = {};  // D's sections, blocks and type; none: C is D
  Precision precision = {};           // a mode
};

class BlockPlan {  // immutable, cheap to copy, thread-safe
 public:
  // Throws InvalidArgument and NotImplemented.
  BlockPlan(const Executor& executor, const BlockDescription& description);

  // Addresses of the blocks in the order of the lists, on the executor. `c`: none where the description has none or
  // beta is 0.
  Accuracy execute(std::span<const void* const> a, std::span<const void* const> b, std::span<void* const> d,
                   Scalars scalars = {}, std::span<const void* const> c = {}) const;

  [[nodiscard]] const BlockDescription& description() const;
  [[nodiscard]] std::int64_t products() const;  // pairs of blocks
  [[nodiscard]] double flops() const;
  [[nodiscard]] std::int64_t workspace_bytes() const;  // that an execution allocates
  [[nodiscard]] Accuracy accuracy() const;             // a priori, of the worst block

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

// The blocks of a product, in order of their coordinates: D's sections and blocks, row-major, of the computing type.
[[nodiscard]] BlockTensor product_blocks(const Expression& expression, const BlockTensor& a, const BlockTensor& b);

// A block-sparse tensor in one allocation, blocks row-major one after another. It starts as zeros.
template <Element T> class BlockSparse {
 public:
  BlockSparse(const Executor& executor, std::vector<std::vector<std::int64_t>> sections,
              std::vector<std::vector<std::int64_t>> blocks)
      : BlockSparse(executor, BlockTensor{std::move(sections), std::move(blocks), dtype_of<T>}) {}
  // Sections and blocks of `tensor`; its type and strides do not count.
  BlockSparse(const Executor& executor, BlockTensor tensor)
      : tensor_(std::move(tensor)), values_(executor, {starts()}) {
    tensor_.dtype = dtype_of<T>, tensor_.strides.clear();
    const std::vector<T> zeros(static_cast<std::size_t>(values_.size()));
    copy(View<const T>(Executor::host(), zeros.data(), values_.shape()), values_.view());
  }
  [[nodiscard]] const BlockTensor& tensor() const { return tensor_; }
  [[nodiscard]] const Executor& executor() const { return values_.executor(); }
  [[nodiscard]] View<T> block(std::size_t i) const {
    return View<T>(executor(), values_.data() + start_[i], tensor_.shape(i));
  }
  [[nodiscard]] std::vector<void*> addresses() const {
    std::vector<void*> result;
    for (const std::int64_t s : start_) result.push_back(values_.data() + s);
    return result;
  }

 private:
  std::int64_t starts() {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < tensor_.blocks.size(); ++i) {
      start_.push_back(count);
      count += element_count(tensor_.shape(i));
    }
    return count;
  }
  BlockTensor tensor_;
  std::vector<std::int64_t> start_;  // of each block, in elements
  Array<T> values_;
};

// D = alpha A B + beta D.
template <Element T> Accuracy contract(const Executor& executor, std::string_view text, std::complex<double> alpha,
                                       const BlockSparse<T>& a, const BlockSparse<T>& b, std::complex<double> beta,
                                       const BlockSparse<T>& d, Precision precision = {});
// The product with all the blocks that it has.
template <Element T> [[nodiscard]] BlockSparse<T> contract(const Executor& executor, std::string_view text,
                                                           const BlockSparse<T>& a, const BlockSparse<T>& b,
                                                           Precision precision = {});

template <Element T> Accuracy contract(const Executor& executor, std::string_view text, std::complex<double> alpha,
                                       const BlockSparse<T>& a, const BlockSparse<T>& b, std::complex<double> beta,
                                       const BlockSparse<T>& d, Precision precision) {
  for (const BlockSparse<T>* x : {&a, &b, &d})
    require(x->executor() == executor, "tensor.block_sparse: a tensor is on '{}', the call on '{}'; use one executor",
            x->executor().name(), executor.name());
  const auto from = a.addresses(), with = b.addresses(), to = d.addresses();
  return BlockPlan(executor, {parse(text), a.tensor(), b.tensor(), d.tensor(), {}, precision})
      .execute({from.data(), from.size()}, {with.data(), with.size()}, to, {alpha, beta});
}
template <Element T> BlockSparse<T> contract(const Executor& executor, std::string_view text, const BlockSparse<T>& a,
                                             const BlockSparse<T>& b, Precision precision) {
  BlockSparse<T> d(executor, product_blocks(parse(text), a.tensor(), b.tensor()));
  contract(executor, text, 1, a, b, 0, d, precision);
  return d;
}

}  // namespace trn::tensor
