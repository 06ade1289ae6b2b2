// The Tensor Engine: nc_matmul and nc_transpose.
//
// nc_matmul: dst(m, n) = sum_k stationary(k, m) * moving(k, n), the products added in row order by fused multiply-add
// starting from zero, all in fp32; the sum is then stored, or added to PSUM in fp32 and rounded to dst's dtype. In
// double_row the contraction index is the pair (k, i), i = 0, 1, k-major: (0,0), (0,1), (1,0), ... nc_matmul_mx does
// the same with i = 0 .. 3 after each value has been multiplied by its scale. Which part of the array a matmul uses
// does not change its bits.
#include <cmath>
#include <limits>

#include "sim/engines.hpp"
#include "sim/matmul_kernel.hpp"
#include "sim/microscaling.hpp"
#include "sim/transpose.hpp"

namespace trn::neuron::sim {

namespace {

template <class Real> std::vector<Real>& scratch_of(int use) {
  static thread_local std::vector<Real> buffers[3];
  return buffers[use];
}

// One pointer per contraction index to `width` contiguous values; each partition holds `split` of them.
template <class Real> std::vector<const Real*> contraction_rows(const Operand& o, std::int64_t split, int use) {
  std::vector<Real>& scratch = scratch_of<Real>(use);
  scratch.resize(static_cast<std::size_t>(o.count));
  const std::int64_t width = o.row / split;
  std::vector<const Real*> rows(static_cast<std::size_t>(o.rows * split));
  Real* const base = scratch.data();
  for (std::int64_t k = 0; k < o.rows; ++k) {
    const Real* row = view(o, k * o.row, o.row, base + k * o.row);
    for (std::int64_t i = 0; i < split; ++i) rows[static_cast<std::size_t>(k * split + i)] = row + i * width;
  }
  return rows;
}

// The rows of dst can be written in place.
template <class Real> bool direct(const Operand& dst) {
  const bool plain = std::is_same_v<Real, float> && dst.dtype == DType::Float32 && !dst.wide;
  return plain && dst.contiguous(0, dst.row);
}

// Pass-through: each column of `moving` is a unit vector that names the row of `stationary` to move, and no arithmetic
// happens. With the identity, dst(m, n) = stationary(n, m).
template <class Real> void pass_through(const Execution& e, const isa::NcMatmul& a, const Operand& dst,
                                        const Operand& stationary, const Operand& moving) {
  if (a.accumulate.at(e.point.variables) != 0) {
    e.refuse("illegal-operand", "a pass-through transpose moves bits and cannot accumulate; overwrite dst");
  }
  const std::vector<const Real*> rows = contraction_rows<Real>(moving, 1, 1);
  const std::int64_t n_end = moving.row, m_end = stationary.row, bytes = cell_bytes<Real>(stationary);
  std::vector<std::byte> chosen(static_cast<std::size_t>(n_end * m_end * bytes));
  for (std::int64_t n = 0; n < n_end; ++n) {
    std::int64_t ones = 0, others = 0, source = 0;
    for (std::int64_t k = 0; k < moving.rows; ++k) {
      const Real v = rows[static_cast<std::size_t>(k)][n];
      if (v == 1) source = k, ++ones;
      if (v != 0 && v != 1) ++others;
    }
    if (ones != 1 || others != 0) {
      e.refuse("illegal-operand",
               "is_transpose needs unit vectors as columns of 'moving'; column {} has {} ones and {} other non-zero "
               "values: pass the identity",
               n, ones, others);
    }
    load_cells<Real>(stationary, source * m_end, m_end, chosen.data() + n * m_end * bytes);
  }
  std::vector<std::byte> turned(chosen.size());
  transpose_cells(chosen.data(), n_end, m_end, bytes, turned.data());
  put_cells<Real>(dst, turned.data(), bytes);
}

// A generation without pass-through multiplies by the identity: dst(m, n) = sum_k data(k, m) * [k = n]. Zero times
// infinity or NaN is NaN, so one such value in column m of data turns the rest of row m of dst into NaN; and the sum
// starts from +0, so -0 becomes +0.
template <class Real> void transpose_by_identity(const Execution& e, const Operand& dst, const Operand& data) {
  const std::vector<const Real*> rows = contraction_rows<Real>(data, 1, 0);
  std::vector<Real> out(static_cast<std::size_t>(data.rows));
  for (std::int64_t m = 0; m < data.row; ++m) {
    std::int64_t spoiled = 0;
    for (const Real* row : rows) spoiled += !std::isfinite(row[m]);
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const Real v = rows[n][m];
      out[n] = spoiled - !std::isfinite(v) > 0 ? std::numeric_limits<Real>::quiet_NaN() : v + Real(0);
    }
    store(dst, m * dst.row, dst.row, out.data(), e.rounder(isa::NcTranspose::dst));
  }
}

// dst = the product of `rows` and `columns`, one pointer per contraction index, or dst plus that.
template <class Real> void finish_product(const Execution& e, const Operand& dst, const std::vector<const Real*>& rows,
                                          const std::vector<const Real*>& columns, bool accumulate) {
  MatmulOperands<Real> product{rows.data(), columns.data(), static_cast<std::int64_t>(rows.size()), dst.rows, dst.row};
  if (direct<Real>(dst)) {
    product.c = reinterpret_cast<Real*>(dst.data);
    product.pitch = dst.strides[0] / static_cast<std::int64_t>(sizeof(Real));
    product.accumulate = accumulate;
    return multiply(product);
  }
  std::vector<Real>& sums = scratch_of<Real>(2);
  sums.resize(static_cast<std::size_t>(dst.count));
  product.c = sums.data();
  product.pitch = dst.row;
  multiply(product);
  std::vector<Real> old(static_cast<std::size_t>(dst.row));
  for (std::int64_t m = 0; m < dst.rows; ++m) {
    Real* sum = sums.data() + m * dst.row;
    if (accumulate) {
      load(dst, m * dst.row, dst.row, old.data());
      for (std::size_t n = 0; n < old.size(); ++n) sum[n] = old[n] + sum[n];
    }
    static_assert(isa::NcMatmul::dst + 0 == isa::NcMatmulMx::dst + 0);
    store(dst, m * dst.row, dst.row, sum, e.rounder(isa::NcMatmul::dst));
  }
}

}  // namespace

template <class Real> void execute(const Execution& e, const isa::NcMatmul& a) {
  using I = isa::NcMatmul;
  const Operand stationary = e.read(I::stationary), moving = e.read(I::moving), dst = e.resolved(I::dst);
  const bool accumulate = a.accumulate.at(e.point.variables) != 0;
  accumulate ? e.check_accumulates(dst) : e.mark_written(dst);
  if (a.is_transpose) return pass_through<Real>(e, a, dst, stationary, moving);

  const std::int64_t split = a.perf_mode == tile::MatmulMode::DoubleRow ? 2 : 1;
  const std::vector<const Real*> rows = contraction_rows<Real>(stationary, split, 0);
  const std::vector<const Real*> columns = contraction_rows<Real>(moving, split, 1);
  ensure(rows.size() == columns.size() && dst.rows == stationary.row / split && dst.row == moving.row / split,
         "simulator: nc_matmul shapes do not fit: dst {} x {}, {} x {}, {} x {}", dst.rows, dst.row, rows.size(),
         stationary.row / split, columns.size(), moving.row / split);
  finish_product(e, dst, rows, columns, accumulate);
}

template <class Real> void execute(const Execution& e, const isa::NcMatmulMx& a) {
  using I = isa::NcMatmulMx;
  const Operand stationary = e.read(I::stationary), moving = e.read(I::moving), dst = e.resolved(I::dst);
  const Operand stationary_scale = e.resolved(I::stationary_scale), moving_scale = e.resolved(I::moving_scale);
  check_scale_read(e, stationary_scale, I::stationary_scale, stationary.rows);
  check_scale_read(e, moving_scale, I::moving_scale, moving.rows);
  const bool accumulate = a.accumulate.at(e.point.variables) != 0;
  accumulate ? e.check_accumulates(dst) : e.mark_written(dst);
  ensure(stationary.rows == moving.rows && dst.rows == stationary.row && dst.row == moving.row,
         "simulator: nc_matmul_mx shapes do not fit: dst {} x {}, {} x {}, {} x {}", dst.rows, dst.row, stationary.rows,
         stationary.row, moving.rows, moving.row);
  const std::vector<Real> x = unpack<Real>(e, stationary, stationary_scale, a.stationary_format);
  const std::vector<Real> y = unpack<Real>(e, moving, moving_scale, a.moving_format);
  std::vector<const Real*> rows, columns;
  for (std::int64_t k = 0; k < stationary.rows * kMxPacked; ++k) {
    rows.push_back(x.data() + k * stationary.row);
    columns.push_back(y.data() + k * moving.row);
  }
  finish_product(e, dst, rows, columns, accumulate);
}

template <class Real> void execute(const Execution& e, const isa::NcTranspose&) {
  const Operand data = e.read(isa::NcTranspose::data), dst = e.write(isa::NcTranspose::dst);
  const bool by_identity = e.engine() == tile::Engine::Tensor && !e.machine.pass_through_transpose;
  if (by_identity) return transpose_by_identity<Real>(e, dst, data);
  move_transposed<Real>(dst, data);
}

template void execute<float>(const Execution&, const isa::NcMatmul&);
template void execute<double>(const Execution&, const isa::NcMatmul&);
template void execute<float>(const Execution&, const isa::NcMatmulMx&);
template void execute<double>(const Execution&, const isa::NcMatmulMx&);
template void execute<float>(const Execution&, const isa::NcTranspose&);
template void execute<double>(const Execution&, const isa::NcTranspose&);

}  // namespace trn::neuron::sim
