// The Scalar Engine: function(data * scale + bias). The product and the sum round separately to fp32. The sum of the
// activated values in element order, in fp32, before they are rounded to dst's dtype, is added to the register of its
// partition; reduce_res receives the registers. In Wide storage everything is double. Its tensor_copy and tensor_scalar
// are the Vector Engine's.
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

// The registers of data's partitions after this instruction, which added `sums`; returns them in `sums`.
template <class Real>
void update_registers(const Execution& e, const isa::Activation& a, const Operand& data, std::vector<Real>& sums) {
  const bool resets = a.reduce_cmd == tile::ReduceCmd::Reset || a.reduce_cmd == tile::ReduceCmd::ResetReduce;
  if (a.reduce_cmd == tile::ReduceCmd::Idle && !e.has(isa::Activation::reduce_res)) return;
  for (std::size_t p = 0; p < sums.size(); ++p) {
    const std::size_t lane = static_cast<std::size_t>(data.partition) + p;
    if (!resets && !e.scalar_registers.began[lane]) {
      e.refuse("uninitialised-read", "takes up the sum of partition {}, which nothing began; begin with reset_reduce",
               lane);
    }
    const Real before = resets ? Real(0) : static_cast<Real>(e.scalar_registers.sums[lane]);
    sums[p] = accumulates(a.reduce_cmd) ? before + sums[p] : before;
    e.scalar_registers.sums[lane] = static_cast<double>(sums[p]);
    e.scalar_registers.began[lane] = true;
  }
}

}  // namespace

template <class Real> void execute(const Execution& e, const isa::Activation& a) {
  using I = isa::Activation;
  const Operand data = e.read(I::data);
  const std::vector<Real> bias = column<Real>(e, I::bias, a.bias_value, data.rows);
  const std::vector<Real> scale = column<Real>(e, I::scale, a.scale_value, data.rows);
  const Operand dst = e.write(I::dst);
  const bool reduces = accumulates(a.reduce_cmd);
  std::vector<Real> sums(static_cast<std::size_t>(data.rows), Real(0));
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    const Real s = scale[static_cast<std::size_t>(p)], b = bias[static_cast<std::size_t>(p)];
    for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] * s + b;
    activate(a.op, out, out, n);
    if (reduces) {
      Real sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += out[i];
      sums[static_cast<std::size_t>(p)] = sum;
    }
    store(dst, begin, n, out, e.rounder(I::dst));
  });
  update_registers(e, a, data, sums);
  if (e.has(I::reduce_res)) store(e.write(I::reduce_res), 0, data.rows, sums.data(), e.rounder(I::reduce_res));
}

template void execute<float>(const Execution&, const isa::Activation&);
template void execute<double>(const Execution&, const isa::Activation&);

}  // namespace trn::neuron::sim
