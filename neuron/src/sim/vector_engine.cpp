// The Vector Engine. Operands are converted to fp32 (double in Wide storage), computed there and rounded once on the
// way out; that includes integers, which therefore lose exactness above 2^24 in Exact storage. A row of a partition is
// read completely before it is written, so dst may overlap the inputs of its own partition.
#include <cstring>
#include <trn/core/convert.hpp>

#include "sim/alu.hpp"
#include "sim/engines.hpp"

namespace trn::neuron::sim {

namespace {

using tile::AluOp;

// A [P, 1] operand or an immediate: its value for one partition.
template <class Real>
class PartitionScalar {
 public:
  PartitionScalar(const Execution& e, std::size_t slot, double immediate) : immediate_(static_cast<Real>(immediate)) {
    if (!e.has(slot)) return;
    const Operand o = e.read(slot);
    values_.resize(static_cast<std::size_t>(o.count));
    load(o, 0, o.count, values_.data());
  }
  [[nodiscard]] Real at(std::int64_t partition) const {
    return values_.empty() ? immediate_ : values_[static_cast<std::size_t>(partition)];
  }

 private:
  Real immediate_;
  std::vector<Real> values_;
};

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

template <class Real>
void reduce(AluOp op, const Real* const* x, std::int64_t chains, std::int64_t n, Real* out) {
  switch (op) {
    case AluOp::Add:
      return reduce_chains(x, chains, n, out, [](Real a, Real b) { return a + b; });
    case AluOp::Multiply:
      return reduce_chains(x, chains, n, out, [](Real a, Real b) { return a * b; });
    default:
      return reduce_chains(x, chains, n, out, binary_function<Real>(op));
  }
}

}  // namespace

template <class Real>
void tensor_tensor(const Execution& e) {
  if (computes_on_words(e)) return words_tensor_tensor(e);
  const Operand data1 = e.read(1), data2 = e.read(2), dst = e.write(0);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data1, begin, n, buffers.get(0, n));
    const Real* y = view(data2, begin, n, buffers.get(1, n));
    Real* out = buffers.get(2, n);
    combine<Real>(e.attributes().op0, {x}, {y}, out, n);
    store(dst, begin, n, out, e.rounder(0));
  });
}

template <class Real>
void tensor_scalar(const Execution& e) {
  if (computes_on_words(e)) return words_tensor_scalar(e);
  const tile::Attributes& a = e.attributes();
  const Operand data = e.read(1);
  const PartitionScalar<Real> operand0(e, 2, a.imm0), operand1(e, 3, a.imm1);
  const Operand dst = e.write(0);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    apply<Real>(a.op0, a.reverse0, {x}, {nullptr, operand0.at(p)}, out, n);
    if (a.op1 != AluOp::None) apply<Real>(a.op1, a.reverse1, {out}, {nullptr, operand1.at(p)}, out, n);
    store(dst, begin, n, out, e.rounder(0));
  });
}

template <class Real>
void scalar_tensor_tensor(const Execution& e) {
  const tile::Attributes& a = e.attributes();
  const Operand data = e.read(1), operand1 = e.read(3);
  const PartitionScalar<Real> operand0(e, 2, a.imm0);
  const Operand dst = e.write(0);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data, begin, n, buffers.get(0, n));
    const Real* y = view(operand1, begin, n, buffers.get(1, n));
    Real* out = buffers.get(2, n);
    apply<Real>(a.op0, a.reverse0, {x}, {nullptr, operand0.at(p)}, out, n);
    apply<Real>(a.op1, a.reverse1, {out}, {y}, out, n);
    store(dst, begin, n, out, e.rounder(0));
  });
}

// Element order, starting from the first element; `negate` flips the sign of the finished result.
template <class Real>
void tensor_reduce(const Execution& e) {
  if (computes_on_words(e)) return words_tensor_reduce(e);
  const tile::Attributes& a = e.attributes();
  const Operand data = e.read(1), dst = e.write(0);
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
      reduce<Real>(a.op0, x, chains, group, sums);
      for (std::int64_t c = 0; c < chains; ++c) out[c * dst.row + g] = a.negate ? -sums[c] : sums[c];
    }
    store(dst, first * dst.row, chains * dst.row, out, e.rounder(0));
  });
}

// r[i] = op1(op0(data0[i], r[i-1]), data1[i]): the running value stays in fp32, each r[i] is rounded for dst only.
template <class Real>
void tensor_tensor_scan(const Execution& e) {
  const tile::Attributes& a = e.attributes();
  const Operand data0 = e.read(1), data1 = e.read(2);
  const PartitionScalar<Real> initial(e, 3, a.imm0);
  const Operand dst = e.write(0);
  const BinaryFunction<Real> f0 = binary_function<Real>(a.op0), f1 = binary_function<Real>(a.op1);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data0, begin, n, buffers.get(0, n));
    const Real* y = view(data1, begin, n, buffers.get(1, n));
    Real* out = buffers.get(2, n);
    Real r = initial.at(p);
    if (a.op0 == AluOp::Multiply && a.op1 == AluOp::Add) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = r = x[i] * r + y[i];
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = r = f1(f0(x[i], r), y[i]);
    }
    store(dst, begin, n, out, e.rounder(0));
  });
}

// Equal dtypes move bits. The Scalar Engine of a generation without its own tensor_copy goes through fp32 all the same.
template <class Real>
void tensor_copy(const Execution& e) {
  const Operand src = e.read(1), dst = e.write(0);
  const bool through_fp32 = e.engine() == tile::Engine::Scalar && !e.machine.scalar_tensor_copy;
  if (!through_fp32) return copy_elements<Real>(dst, src, e.rounder(0));
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    Real* values = buffers.get(0, n);
    load(src, begin, n, values);
    for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<Real>(static_cast<float>(values[i]));
    store(dst, begin, n, values, e.rounder(0));
  });
}

// Elements whose predicate is false are neither read nor written: they keep their bits and their state.
template <class Real>
void tensor_copy_predicated(const Execution& e) {
  const Operand src = e.read(1), predicate = e.read(2), dst = e.resolved(0);
  const std::int64_t n = dst.row, bytes = cell_bytes<Real>(dst);
  std::vector<Real> chosen(static_cast<std::size_t>(n));
  std::vector<std::byte> cells(static_cast<std::size_t>(n * bytes));
  for (std::int64_t p = 0; p < dst.rows; ++p) {
    load(predicate, p * n, n, chosen.data());
    load_cells<Real>(src, p * n, n, cells.data());
    const auto take = [&](std::int64_t i) {
      return (chosen[static_cast<std::size_t>(i)] != 0) != e.attributes().reverse0;
    };
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

template <class Real>
void reciprocal(const Execution& e) {
  const Operand data = e.read(1), dst = e.write(0);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    for (std::int64_t i = 0; i < n; ++i) out[i] = Real(1) / x[i];
    store(dst, begin, n, out, e.rounder(0));
  });
}

// The value is a constant of dst's dtype: rounded to nearest even in every rounding mode, once for all elements.
template <class Real>
void memset(const Execution& e) {
  const Operand dst = e.write(0);
  const std::int64_t bytes = cell_bytes<Real>(dst);
  alignas(8) std::byte cell[8] = {};
  if constexpr (std::is_same_v<Real, double>) {
    std::memcpy(cell, &e.attributes().imm0, sizeof(double));
  } else {
    from_double(&e.attributes().imm0, dst.dtype, cell, 1);
  }
  std::vector<std::byte> cells(static_cast<std::size_t>(dst.row * bytes));
  for (std::int64_t i = 0; i < dst.row; ++i) std::copy_n(cell, bytes, cells.begin() + i * bytes);
  for (std::int64_t p = 0; p < dst.rows; ++p) store_cells<Real>(dst, p * dst.row, dst.row, cells.data());
}

#define TRN_INSTANTIATE(Real)                                   \
  template void tensor_tensor<Real>(const Execution&);          \
  template void tensor_scalar<Real>(const Execution&);          \
  template void scalar_tensor_tensor<Real>(const Execution&);   \
  template void tensor_reduce<Real>(const Execution&);          \
  template void tensor_tensor_scan<Real>(const Execution&);     \
  template void tensor_copy<Real>(const Execution&);            \
  template void tensor_copy_predicated<Real>(const Execution&); \
  template void reciprocal<Real>(const Execution&);             \
  template void memset<Real>(const Execution&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
#undef TRN_INSTANTIATE

}  // namespace trn::neuron::sim
