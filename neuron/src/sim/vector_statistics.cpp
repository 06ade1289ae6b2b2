// The Vector Engine's exponential with its running sums, and bn_stats / bn_aggr. Everything in fp32 (double in Wide
// storage), one rounding per operator; the exponential itself is computed in double and rounded once.
#include "sim/activation_functions.hpp"
#include "sim/engines.hpp"
#include "sim/partition_scalar.hpp"

namespace trn::neuron::sim {

namespace {

// What the registers hold before the first element is added.
template <class Real>
std::vector<Real> initial_sums(const Execution& e, const isa::Exponential& a, const Operand& src) {
  using I = isa::Exponential;
  const PartitionScalar<Real> init(e, I::reduce_init, a.reduce_init_value);  // 0 but for LoadReduce
  std::vector<Real> sums;
  for (std::int64_t p = 0; p < src.rows; ++p) sums.push_back(init.at(p));
  if (a.reduce_cmd != tile::ReduceCmd::Reduce) return sums;
  for (std::size_t p = 0; p < sums.size(); ++p) {
    const std::size_t lane = static_cast<std::size_t>(src.partition) + p;
    if (!e.vector_registers.began[lane]) {
      e.refuse("uninitialised-read", "takes up the sum of partition {}, which nothing began; begin with reset_reduce",
               lane);
    }
    sums[p] = static_cast<Real>(e.vector_registers.sums[lane]);
  }
  return sums;
}

// Count, mean and sum of squared distances from it of x[0], x[step], x[2 step], ...: two passes in element order. All
// three are 0 when there is no element.
template <class Real> void triple(const Real* x, std::int64_t n, std::int64_t step, Real* out) {
  Real sum = 0, squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; i += step, ++count) sum += x[i];
  const Real mean = count == 0 ? Real(0) : sum / static_cast<Real>(count);
  for (std::int64_t i = 0; i < n; i += step) {
    const Real d = x[i] - mean;
    squares += d * d;
  }
  out[0] = static_cast<Real>(count);
  out[1] = mean;
  out[2] = squares;
}

// mean = sum of c m / C, variance = sum of (s + c (m - mean)^2) / C over the triples (c, m, s), C = sum of c.
template <class Real> void aggregate(const Real* x, std::int64_t n, Real* out) {
  Real count = 0, sum = 0, squares = 0;
  for (std::int64_t i = 0; i < n; i += 3) {
    count += x[i];
    sum += x[i] * x[i + 1];
  }
  const Real mean = sum / count;
  for (std::int64_t i = 0; i < n; i += 3) {
    const Real d = x[i + 1] - mean;
    squares += x[i + 2] + x[i] * (d * d);
  }
  out[0] = mean;
  out[1] = squares / count;
}

}  // namespace

// The registers are added to element by element, each exponential before it is rounded to dst's dtype. Idle leaves them
// undefined: who takes them up afterwards is told so.
template <class Real> void execute(const Execution& e, const isa::Exponential& a) {
  using I = isa::Exponential;
  const Operand src = e.read(I::src);
  const PartitionScalar<Real> largest(e, I::max_value, a.max_value_value);
  std::vector<Real> sums = initial_sums<Real>(e, a, src);
  const Operand dst = e.write(I::dst);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(src, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    const Real m = largest.at(p);
    for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] - m;
    activate(tile::ActFunction::Exp, out, out, n);
    Real& sum = sums[static_cast<std::size_t>(p)];
    for (std::int64_t i = 0; i < n; ++i) sum += out[i];
    store(dst, begin, n, out, e.rounder(I::dst));
  });
  for (std::size_t p = 0; p < sums.size(); ++p) {
    const std::size_t lane = static_cast<std::size_t>(src.partition) + p;
    e.vector_registers.began[lane] = a.reduce_cmd != tile::ReduceCmd::Idle;
    e.vector_registers.sums[lane] = static_cast<double>(sums[p]);
  }
  if (e.has(I::reduce_res)) store(e.write(I::reduce_res), 0, src.rows, sums.data(), e.rounder(I::reduce_res));
}

template <class Real> void execute(const Execution& e, const isa::BnStats&) {
  using I = isa::BnStats;
  const Operand data = e.read(I::data), dst = e.write(I::dst);
  ensure(dst.row == 6, "simulator: bn_stats writes {} elements per partition", dst.row);
  for_each_row<Real>(data.rows, data.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const Real* x = view(data, p * data.row, data.row, buffers.get(0, data.row));
    Real* out = buffers.get(1, 6);
    triple(x, data.row, 2, out);
    triple(x + 1, data.row - 1, 2, out + 3);
    store(dst, p * 6, 6, out, e.rounder(I::dst));
  });
}

template <class Real> void execute(const Execution& e, const isa::BnAggr&) {
  using I = isa::BnAggr;
  const Operand data = e.read(I::data), dst = e.write(I::dst);
  ensure(dst.row == 2 && data.row % 3 == 0, "simulator: bn_aggr of {} elements into {}", data.row, dst.row);
  for_each_row<Real>(data.rows, data.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const Real* x = view(data, p * data.row, data.row, buffers.get(0, data.row));
    Real* out = buffers.get(1, 2);
    aggregate(x, data.row, out);
    store(dst, p * 2, 2, out, e.rounder(I::dst));
  });
}

#define TRN_INSTANTIATE(Real)                                             \
  template void execute<Real>(const Execution&, const isa::Exponential&); \
  template void execute<Real>(const Execution&, const isa::BnStats&);     \
  template void execute<Real>(const Execution&, const isa::BnAggr&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
#undef TRN_INSTANTIATE

}  // namespace trn::neuron::sim
