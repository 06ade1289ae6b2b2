// The Vector Engine's instructions that reduce into its registers. A register takes the values of its partition in
// element order, register = op(value, register) in fp32 (double in Wide storage), before they are rounded to dst's
// dtype: the documentation of range_select relies on that, where a fill that becomes -infinity in a 16-bit dst stays
// finite in reduce_res. The order of op's arguments is that of the documented loop of tensor_scalar_cumulative.
#include <limits>

#include "sim/alu.hpp"
#include "sim/engines.hpp"
#include "sim/partition_scalar.hpp"

namespace trn::neuron::sim {

namespace {

using tile::ReduceCmd;

// The value that a reduction by `op` begins with.
template <class Real> Real identity(AluOp op) {
  switch (op) {
    case AluOp::Multiply:
      return Real(1);
    case AluOp::Maximum:
      return -std::numeric_limits<Real>::infinity();
    case AluOp::Minimum:
      return std::numeric_limits<Real>::infinity();
    default:  // add, subtract
      return Real(0);
  }
}

// The registers of the partitions of `lanes` while one instruction runs.
template <class Real> class Registers {
 public:
  // `loaded`: for instructions that have load_reduce. Throws, before anything is written, when it takes up values that
  // nothing began.
  Registers(const Execution& e, ReduceCmd cmd, AluOp op, const Operand& lanes,
            const PartitionScalar<Real>* loaded = nullptr)
      : e_(e), cmd_(cmd), first_(static_cast<std::size_t>(lanes.partition)), f_(binary_function<Real>(op)) {
    for (std::int64_t p = 0; p < lanes.rows; ++p) {
      const std::size_t lane = first_ + static_cast<std::size_t>(p);
      if (cmd == ReduceCmd::Reduce && !e.vector_registers.began[lane]) {
        e.refuse("uninitialised-read", "takes up the sum of partition {}, which nothing began; begin with reset_reduce",
                 lane);
      }
      if (cmd == ReduceCmd::Reduce) {
        values_.push_back(static_cast<Real>(e.vector_registers.sums[lane]));
      } else {
        values_.push_back(cmd == ReduceCmd::LoadReduce && loaded ? loaded->at(p) : identity<Real>(op));
      }
    }
  }

  // Adds a row of values to the register of partition p.
  void add(std::int64_t p, const Real* values, std::int64_t n) {
    if (!accumulates(cmd_)) return;
    Real r = values_[static_cast<std::size_t>(p)];
    for (std::int64_t i = 0; i < n; ++i) r = f_(values[i], r);
    values_[static_cast<std::size_t>(p)] = r;
  }
  // The same, and each value becomes the register as it is then.
  void scan(std::int64_t p, Real* values, std::int64_t n) {
    Real r = values_[static_cast<std::size_t>(p)];
    for (std::int64_t i = 0; i < n; ++i) values[i] = r = f_(values[i], r);
    values_[static_cast<std::size_t>(p)] = r;
  }

  // Leaves them for later instructions; an idle instruction leaves nothing to rely on.
  void keep() const {
    for (std::size_t p = 0; p < values_.size(); ++p) {
      e_.vector_registers.sums[first_ + p] = static_cast<double>(values_[p]);
      e_.vector_registers.began[first_ + p] = cmd_ != ReduceCmd::Idle;
    }
  }
  void read_out(std::size_t reduce_res, bool negate) const {
    if (!e_.has(reduce_res)) return;
    std::vector<Real> out = values_;
    for (Real& v : out) v = negate ? -v : v;
    const Operand o = e_.write(reduce_res);
    store(o, 0, o.count, out.data(), e_.rounder(reduce_res));
  }

 private:
  const Execution& e_;
  ReduceCmd cmd_;
  std::size_t first_;
  BinaryFunction<Real> f_;
  std::vector<Real> values_;
};

}  // namespace

template <class Real> void execute(const Execution& e, const isa::TensorScalarReduce& a) {
  using I = isa::TensorScalarReduce;
  const Operand data = e.read(I::data);
  const PartitionScalar<Real> operand0(e, I::operand0, a.operand0_value), init(e, I::reduce_init, a.reduce_init_value);
  Registers<Real> registers(e, a.reduce_cmd, a.reduce_op, data, &init);
  const Operand dst = e.write(I::dst);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(data, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    combine<Real>(a.op0, {x}, {nullptr, operand0.at(p)}, out, n);
    registers.add(p, out, n);
    store(dst, begin, n, out, e.rounder(I::dst));
  });
  registers.keep();
  registers.read_out(I::reduce_res, a.reduce_res_negate);
}

template <class Real> void execute(const Execution& e, const isa::TensorScalarCumulative& a) {
  using I = isa::TensorScalarCumulative;
  const Operand src = e.read(I::src);
  const PartitionScalar<Real> imm0(e, I::imm0, a.imm0_value), imm1(e, I::imm1, a.imm1_value);
  Registers<Real> registers(e, a.reduce_cmd, a.op1, src, &imm1);
  const Operand dst = e.write(I::dst);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(src, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    combine<Real>(a.op0, {x}, {nullptr, imm0.at(p)}, out, n);
    registers.scan(p, out, n);
    store(dst, begin, n, out, e.rounder(I::dst));
  });
  registers.keep();
}

template <class Real> void execute(const Execution& e, const isa::SelectReduce& a) {
  using I = isa::SelectReduce;
  const Operand predicate = e.read(I::predicate), on_true = e.read(I::on_true);
  const PartitionScalar<Real> on_false(e, I::on_false, a.on_false_value);
  Registers<Real> registers(e, a.reduce_cmd, AluOp::Maximum, on_true);
  const Operand dst = e.write(I::dst);
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* chosen = view(predicate, begin, n, buffers.get(0, n));
    const Real* x = view(on_true, begin, n, buffers.get(1, n));
    Real* out = buffers.get(2, n);
    const Real otherwise = on_false.at(p);
    for (std::int64_t i = 0; i < n; ++i) out[i] = (chosen[i] != 0) != a.reverse_pred ? x[i] : otherwise;
    registers.add(p, out, n);
    store(dst, begin, n, out, e.rounder(I::dst));
  });
  registers.keep();
  registers.read_out(I::reduce_res, false);
}

template <class Real> void execute(const Execution& e, const isa::RangeSelect& a) {
  using I = isa::RangeSelect;
  const Operand on_true = e.read(I::on_true_tile);
  const PartitionScalar<Real> bound0(e, I::bound0, 0), bound1(e, I::bound1, 0);
  Registers<Real> registers(e, a.reduce_cmd, AluOp::Maximum, on_true);
  const Operand dst = e.write(I::dst);
  const BinaryFunction<Real> first = binary_function<Real>(a.comp_op0), second = binary_function<Real>(a.comp_op1);
  constexpr auto kFill = static_cast<Real>(std::numeric_limits<float>::lowest());
  for_each_row<Real>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    const Real* x = view(on_true, begin, n, buffers.get(0, n));
    Real* out = buffers.get(1, n);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<Real>(a.range_start + i);
      out[i] = first(k, bound0.at(p)) != 0 && second(k, bound1.at(p)) != 0 ? x[i] : kFill;
    }
    registers.add(p, out, n);
    store(dst, begin, n, out, e.rounder(I::dst));
  });
  registers.keep();
  registers.read_out(I::reduce_res, false);
}

#define TRN_INSTANTIATE(Real)                                                        \
  template void execute<Real>(const Execution&, const isa::TensorScalarReduce&);     \
  template void execute<Real>(const Execution&, const isa::TensorScalarCumulative&); \
  template void execute<Real>(const Execution&, const isa::SelectReduce&);           \
  template void execute<Real>(const Execution&, const isa::RangeSelect&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
#undef TRN_INSTANTIATE

}  // namespace trn::neuron::sim
