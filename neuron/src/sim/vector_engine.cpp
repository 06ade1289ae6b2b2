// The Vector Engine. Operands are converted to fp32 (double in Wide storage), computed there and rounded once on the
// way out; that includes integers, which therefore lose exactness above 2^24 in Exact storage. A row of a partition is
// read completely before it is written, so dst may overlap the inputs of its own partition.
#include <cstring>
#include <trn/core/convert.hpp>

#include "sim/alu.hpp"
#include "sim/engines.hpp"
#include "sim/partition_scalar.hpp"

namespace trn::neuron::sim {

namespace {

template <class Real>
void apply(AluOp op, bool reverse, const Term<Real>& data, const Term<Real>& operand, Real* out, std::int64_t n) {
  if (reverse) {
    combine(op, operand, data, out, n);
  } else {
    combine(op, data, operand, out, n);
  }
}

// Independent chains advance together, so that one addition does not wait for the one before it.
constexpr std::int64_t kChains = 8;

// out[c] = x_c[0] op x_c[1] op ... op x_c[n-1], in this order.
template <class Real, class F>
void reduce_chains(const Real* const* x, std::int64_t chains, std::int64_t n, Real* out, F f) {
  if (chains == kChains) {
    Real sums[kChains];
    for (std::int64_t c = 0; c < kChains; ++c) sums[c] = x[c][0];
    for (std::int64_t i = 1; i < n; ++i) {
      for (std::int64_t c = 0; c < kChains; ++c) sums[c] = f(sums[c], x[c][i]);
    }
    for (std::int64_t c = 0; c < kChains; ++c) out[c] = sums[c];
    return;
  }
  for (std::int64_t c = 0; c < chains; ++c) {
    Real sum = x[c][0];
    for (std::int64_t i = 1; i < n; ++i) sum = f(sum, x[c][i]);
    out[c] = sum;
  }
}

template <class Real> void reduce(AluOp op, const Real* const* x, std::int64_t chains, std::int64_t n, Real* out) {
  switch (op) {
    case AluOp::Add:
      return reduce_chains(x, chains, n, out, [](Real a, Real b) { return a + b; });
    case AluOp::Multiply:
      return reduce_chains(x, chains, n, out, [](Real a, Real b) { return a * b; });
    default:  // every other operator by its function
      return reduce_chains(x, chains, n, out, binary_function<Real>(op));
  }
}

}  // namespace

template <class Real> void execute(const Execution& e, const isa::TensorTensor& a) {
  using I = isa::TensorTensor;
  if (computes_on_words(e, a.op)) return execute_words(e, a);
  const Operand data1 = e.read(I::data1), data2 = e.read(I::data2), dst = e.write(I::dst);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data1, begin, n, buffers.get(0, n));
    const Real* y = view(data2, begin, n, buffers.get(1, n));
    Real* out = buffers.get(2, n);
    combine<Real>(a.op, {x}, {y}, out, n);
    store(dst, begin, n, out, e.rounder(I::dst));
  });
}

template <class Real> void execute(const Execution& e, const isa::TensorScalar& a) {
  using I = isa::TensorScalar;
  if (computes_on_words(e, a.op0, a.op1, immediates_are_words(e, a))) return execute_words(e, a);
  const Operand data = e.read(I::data);
  const PartitionScalar<Real> operand0(e, I::operand0, a.operand0_value), operand1(e, I::operand1, a.operand1_value);
  const Operand dst = e.write(I::dst);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    apply<Real>(a.op0, a.reverse0, {x}, {nullptr, operand0.at(p)}, out, n);
    if (a.op1 != AluOp::None) apply<Real>(a.op1, a.reverse1, {out}, {nullptr, operand1.at(p)}, out, n);
    store(dst, begin, n, out, e.rounder(I::dst));
  });
}

template <class Real> void execute(const Execution& e, const isa::ScalarTensorTensor& a) {
  using I = isa::ScalarTensorTensor;
  const Operand data = e.read(I::data), operand1 = e.read(I::operand1);
  const PartitionScalar<Real> operand0(e, I::operand0, a.operand0_value);
  const Operand dst = e.write(I::dst);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data, begin, n, buffers.get(0, n));
    const Real* y = view(operand1, begin, n, buffers.get(1, n));
    Real* out = buffers.get(2, n);
    apply<Real>(a.op0, a.reverse0, {x}, {nullptr, operand0.at(p)}, out, n);
    apply<Real>(a.op1, a.reverse1, {out}, {y}, out, n);
    store(dst, begin, n, out, e.rounder(I::dst));
  });
}

// Element order, starting from the first element; `negate` flips the sign of the finished result.
template <class Real> void execute(const Execution& e, const isa::TensorReduce& a) {
  using I = isa::TensorReduce;
  if (computes_on_words(e, a.op)) return execute_words(e, a);
  const Operand data = e.read(I::data), dst = e.write(I::dst);
  const std::int64_t group = data.row / dst.row;
  const std::int64_t blocks = (dst.rows + kChains - 1) / kChains;
  for_each_row<Real>(blocks, kChains * data.row, [&](std::int64_t block, RowBuffers<Real>& buffers) {
    const std::int64_t first = block * kChains, chains = std::min(kChains, dst.rows - first);
    const Real* rows[kChains] = {};
    for (std::int64_t c = 0; c < chains; ++c) {
      rows[c] = view(data, (first + c) * data.row, data.row, buffers.get(static_cast<std::size_t>(c), data.row));
    }
    Real* out = buffers.get(kChains, chains * dst.row);
    for (std::int64_t g = 0; g < dst.row; ++g) {
      const Real* x[kChains] = {};
      Real sums[kChains];
      for (std::int64_t c = 0; c < chains; ++c) x[c] = rows[c] + g * group;
      reduce<Real>(a.op, x, chains, group, sums);
      for (std::int64_t c = 0; c < chains; ++c) out[c * dst.row + g] = a.negate ? -sums[c] : sums[c];
    }
    store(dst, first * dst.row, chains * dst.row, out, e.rounder(I::dst));
  });
}

// r[i] = op1(op0(data0[i], r[i-1]), data1[i]): the running value stays in fp32, each r[i] is rounded for dst only.
template <class Real> void execute(const Execution& e, const isa::TensorTensorScan& a) {
  using I = isa::TensorTensorScan;
  const Operand data0 = e.read(I::data0), data1 = e.read(I::data1);
  const PartitionScalar<Real> initial(e, I::initial, a.initial_value);
  const Operand dst = e.write(I::dst);
  const BinaryFunction<Real> f0 = binary_function<Real>(a.op0), f1 = binary_function<Real>(a.op1);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data0, begin, n, buffers.get(0, n));
    const Real* y = view(data1, begin, n, buffers.get(1, n));
    Real* out = buffers.get(2, n);
    Real r = initial.at(p);
    if (a.op0 == AluOp::Multiply && a.op1 == AluOp::Add) {  // both commute
      for (std::int64_t i = 0; i < n; ++i) out[i] = r = x[i] * r + y[i];
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        const Real t = a.reverse0 ? f0(r, x[i]) : f0(x[i], r);
        out[i] = r = a.reverse1 ? f1(y[i], t) : f1(t, y[i]);
      }
    }
    store(dst, begin, n, out, e.rounder(I::dst));
  });
}

// Equal dtypes move bits. The Scalar Engine of a generation without its own tensor_copy goes through fp32 all the same.
template <class Real> void execute(const Execution& e, const isa::TensorCopy&) {
  using I = isa::TensorCopy;
  const Operand src = e.read(I::src), dst = e.write(I::dst);
  const bool through_fp32 = e.engine() == tile::Engine::Scalar && !e.machine.scalar_tensor_copy;
  if (!through_fp32) return copy_elements<Real>(dst, src, e.rounder(I::dst));
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    Real* values = buffers.get(0, n);
    load(src, begin, n, values);
    for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<Real>(static_cast<float>(values[i]));
    store(dst, begin, n, values, e.rounder(I::dst));
  });
}

// Elements whose predicate is false are neither read nor written: they keep their bits and their state.
template <class Real> void execute(const Execution& e, const isa::TensorCopyPredicated& a) {
  using I = isa::TensorCopyPredicated;
  const bool from_tile = e.has(I::src);
  const Operand src = from_tile ? e.read(I::src) : Operand{};
  const Operand predicate = e.read(I::predicate), dst = e.resolved(I::dst);
  const std::int64_t n = dst.row, bytes = cell_bytes<Real>(dst);
  std::vector<Real> chosen(static_cast<std::size_t>(n));
  std::vector<std::byte> cells(static_cast<std::size_t>(n * bytes));
  if (!from_tile) {
    const std::array<std::byte, 8> cell = constant_cell<Real>(dst.dtype, a.src_value);
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(cell.begin(), bytes, cells.begin() + i * bytes);
  }
  for (std::int64_t p = 0; p < dst.rows; ++p) {
    load(predicate, p * n, n, chosen.data());
    if (from_tile) load_cells<Real>(src, p * n, n, cells.data());
    const auto take = [&](std::int64_t i) { return (chosen[static_cast<std::size_t>(i)] != 0) != a.reverse_pred; };
    for (std::int64_t i = 0; i < n;) {
      if (!take(i)) {
        ++i;
        continue;
      }
      std::int64_t end = i + 1;
      while (end < n && take(end)) ++end;
      store_cells<Real>(dst, p * n + i, end - i, cells.data() + i * bytes);
      e.mark_written(dst, p * n + i, end - i);
      i = end;
    }
  }
}

template <class Real> void execute(const Execution& e, const isa::Reciprocal&) {
  using I = isa::Reciprocal;
  const Operand data = e.read(I::data), dst = e.write(I::dst);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    for (std::int64_t i = 0; i < n; ++i) out[i] = Real(1) / x[i];
    store(dst, begin, n, out, e.rounder(I::dst));
  });
}

template <class Real> void execute(const Execution& e, const isa::Memset& a) {
  const Operand dst = e.write(isa::Memset::dst);
  const std::int64_t bytes = cell_bytes<Real>(dst);
  const std::array<std::byte, 8> cell = constant_cell<Real>(dst.dtype, a.value);
  std::vector<std::byte> cells(static_cast<std::size_t>(dst.row * bytes));
  for (std::int64_t i = 0; i < dst.row; ++i) std::copy_n(cell.begin(), bytes, cells.begin() + i * bytes);
  for (std::int64_t p = 0; p < dst.rows; ++p) store_cells<Real>(dst, p * dst.row, dst.row, cells.data());
}

#define TRN_INSTANTIATE(Real)                                                      \
  template void execute<Real>(const Execution&, const isa::TensorTensor&);         \
  template void execute<Real>(const Execution&, const isa::TensorScalar&);         \
  template void execute<Real>(const Execution&, const isa::ScalarTensorTensor&);   \
  template void execute<Real>(const Execution&, const isa::TensorReduce&);         \
  template void execute<Real>(const Execution&, const isa::TensorTensorScan&);     \
  template void execute<Real>(const Execution&, const isa::TensorCopy&);           \
  template void execute<Real>(const Execution&, const isa::TensorCopyPredicated&); \
  template void execute<Real>(const Execution&, const isa::Reciprocal&);           \
  template void execute<Real>(const Execution&, const isa::Memset&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
#undef TRN_INSTANTIATE

}  // namespace trn::neuron::sim
