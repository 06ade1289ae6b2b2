// The Scalar Engine: function(data * scale + bias). The product and the sum round separately to fp32. reduce_res is the
// sum of the activated values in element order, in fp32, before they are rounded to dst's dtype. In Wide storage
// everything is double. Its tensor_copy and tensor_scalar are the Vector Engine's.
#include "sim/activation_functions.hpp"
#include "sim/engines.hpp"

namespace trn::neuron::sim {

namespace {

template <class Real>
std::vector<Real> column(const Execution& e, std::size_t slot, double immediate, std::int64_t partitions) {
  std::vector<Real> values(static_cast<std::size_t>(partitions), static_cast<Real>(immediate));
  if (!e.has(slot)) return values;
  const Operand o = e.read(slot);
  ensure(o.count == partitions, "simulator: activation with {} values for {} partitions", o.count, partitions);
  load(o, 0, o.count, values.data());
  return values;
}

}  // namespace

template <class Real>
void activation(const Execution& e) {
  const tile::Attributes& a = e.attributes();
  const Operand data = e.read(1);
  const std::vector<Real> bias = column<Real>(e, 2, a.imm1, data.rows), scale = column<Real>(e, 3, a.scale, data.rows);
  const Operand dst = e.write(0);
  const bool reduces = e.has(4);
  std::vector<Real> sums(static_cast<std::size_t>(data.rows), Real(0));
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    const Real s = scale[static_cast<std::size_t>(p)], b = bias[static_cast<std::size_t>(p)];
    for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] * s + b;
    activate(a.function, out, out, n);
    if (reduces) {
      Real sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += out[i];
      sums[static_cast<std::size_t>(p)] = sum;
    }
    store(dst, begin, n, out, e.rounder(0));
  });
  if (reduces) store(e.write(4), 0, data.rows, sums.data(), e.rounder(4));
}

template void activation<float>(const Execution&);
template void activation<double>(const Execution&);

}  // namespace trn::neuron::sim
