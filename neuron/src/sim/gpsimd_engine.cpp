// The GpSimd Engine: affine patterns, gathers, reductions across partitions, and the integer arithmetic that only it
// has exactly. Its floating-point tensor operations are the Vector Engine's.
#include <cmath>

#include "sim/alu.hpp"
#include "sim/engines.hpp"

namespace trn::neuron::sim {

namespace {

// offset + p * channel_multiplier + sum(step * index), one value per element of the row, in int32 arithmetic modulo
// 2^32.
std::vector<std::int32_t> affine_row(const isa::AffinePattern& a) {
  std::vector<std::int32_t> values{0};
  for (const tile::Dim& d : a.pattern) {
    std::vector<std::int32_t> next;
    next.reserve(values.size() * static_cast<std::size_t>(d.size));
    for (const std::int32_t v : values) {
      for (std::int64_t i = 0; i < d.size; ++i) next.push_back(static_cast<std::int32_t>(v + d.stride * i));
    }
    values = std::move(next);
  }
  return values;
}

std::int64_t row_start(const isa::AffinePattern& a, std::int64_t partition) {
  return a.offset + partition * a.channel_multiplier;
}

std::vector<std::int32_t> affine_pattern(const isa::AffinePattern& a, const Operand& dst) {
  std::vector<std::int32_t> pattern = affine_row(a);
  ensure(static_cast<std::int64_t>(pattern.size()) == dst.row, "simulator: a pattern of {} values for {} elements",
         pattern.size(), dst.row);
  return pattern;
}

}  // namespace

template <class Real> void execute(const Execution& e, const isa::Iota& a) {
  const Operand dst = e.write(isa::Iota::dst);
  const std::vector<std::int32_t> pattern = affine_pattern(a.value, dst);
  std::vector<double> values(pattern.size());
  for (std::int64_t p = 0; p < dst.rows; ++p) {
    const std::int64_t start = row_start(a.value, p);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<std::int32_t>(start + pattern[i]);
      // Floats come through fp32.
      values[i] = is_float(dst.dtype) ? static_cast<double>(static_cast<Real>(value)) : value;
    }
    store_values(dst, p * dst.row, dst.row, values.data());
  }
}

// cmp_op(affine value, 0) ? on_true : on_false. Between equal dtypes on_true keeps its bits, and on_false, an fp32
// number, is a constant of that dtype; otherwise both go through fp32.
template <class Real> void execute(const Execution& e, const isa::AffineSelect& a) {
  const Operand on_true = e.read(isa::AffineSelect::on_true_tile), dst = e.write(isa::AffineSelect::dst);
  const std::vector<std::int32_t> pattern = affine_pattern(a.value, dst);
  const std::int64_t n = dst.row;
  std::vector<std::uint32_t> value(pattern.size());
  std::vector<Real> out(pattern.size());
  const bool keeps_bits = on_true.dtype == dst.dtype;
  const auto bytes = static_cast<std::size_t>(cell_bytes<Real>(dst));
  std::vector<std::byte> cells(pattern.size() * bytes);
  const auto constant = constant_cell<Real>(dst.dtype, static_cast<Real>(a.on_false_value));
  for (std::int64_t p = 0; p < dst.rows; ++p) {
    const std::int64_t start = row_start(a.value, p);
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<std::uint32_t>(start + pattern[i]);
    combine_words(a.cmp_op, Signedness::Signed, 32, {value.data()}, {nullptr, 0}, value.data(), n);
    if (keeps_bits) {
      load_cells<Real>(on_true, p * n, n, cells.data());
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (!value[i]) std::copy_n(constant.begin(), bytes, cells.begin() + static_cast<std::ptrdiff_t>(i * bytes));
      }
      store_cells<Real>(dst, p * n, n, cells.data());
      continue;
    }
    load(on_true, p * n, n, out.data());
    for (std::size_t i = 0; i < value.size(); ++i) out[i] = value[i] ? out[i] : static_cast<Real>(a.on_false_value);
    store(dst, p * n, n, out.data(), e.rounder(isa::AffineSelect::dst));
  }
}

// Each core serves 16 partitions. Its index list is read partition first: list[i] = index(i % 16, i / 16). All its
// partitions gather the same runs: dst(p, i, j) = src(p, list[i] + j), j < elements_per_index. An index counts
// elements.
template <class Real> void execute(const Execution& e, const isa::LocalGather& a) {
  using I = isa::LocalGather;
  const Operand src = e.read(I::src_buffer), index = e.read(I::index), dst = e.write(I::dst);
  const std::int64_t lanes = e.machine.partitions / e.machine.gpsimd_cores, each = a.elements_per_index;
  const std::int64_t indices = dst.row / each, bytes = cell_bytes<Real>(src);
  std::vector<Real> values(static_cast<std::size_t>(index.count));
  load(index, 0, index.count, values.data());
  std::vector<std::byte> from(static_cast<std::size_t>(src.row * bytes)), to(static_cast<std::size_t>(dst.row * bytes));
  for (std::int64_t p = 0; p < dst.rows; ++p) {
    const std::int64_t first = p / lanes * lanes;
    load_cells<Real>(src, p * src.row, src.row, from.data());
    for (std::int64_t i = 0; i < indices; ++i) {
      const auto at =
          static_cast<std::int64_t>(values[static_cast<std::size_t>((first + i % lanes) * index.row + i / lanes)]);
      if (at < 0 || at + each > src.row) {
        e.refuse("index-out-of-range",
                 "index {} of the core at partition {} is {}, the start of {} elements; src_buffer has {}", i, first,
                 at, each, src.row);
      }
      std::copy_n(from.begin() + at * bytes, each * bytes, to.begin() + i * each * bytes);
    }
    store_cells<Real>(dst, p * dst.row, dst.row, to.data());
  }
}

// Each core looks at its first partition alone; the rows of dst in between keep their bits and their state. NaN is not
// zero, -0 is.
template <class Real> void execute(const Execution& e, const isa::NonzeroWithCount& a) {
  using I = isa::NonzeroWithCount;
  const Operand src = e.resolved(I::src), dst = e.resolved(I::dst);
  const std::int64_t lanes = e.machine.partitions / e.machine.gpsimd_cores, n = src.row;
  for (std::int64_t p = 0; p < src.rows; p += lanes) e.check_read(src.entry(p), I::src);
  std::vector<Real> values(static_cast<std::size_t>(n));
  std::vector<double> out(static_cast<std::size_t>(dst.row));
  for (std::int64_t p = 0; p < dst.rows; p += lanes) {
    load(src, p * n, n, values.data());
    std::fill(out.begin(), out.end(), static_cast<double>(a.padding_val));
    std::size_t found = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (values[static_cast<std::size_t>(i)] != 0) out[found++] = static_cast<double>(a.index_offset + i);
    }
    out.back() = static_cast<double>(found);
    store_values(dst, p * dst.row, dst.row, out.data());
    e.mark_written(dst, p * dst.row, dst.row);
  }
}

// Partition order, starting from partition 0; average divides the finished sum by the number of partitions.
template <class Real> void execute(const Execution& e, const isa::TensorPartitionReduce& a) {
  using I = isa::TensorPartitionReduce;
  if (computes_on_words(e, a.op)) return execute_words(e, a);
  const Operand data = e.read(I::data), dst = e.write(I::dst);
  const AluOp op = a.op == AluOp::Average ? AluOp::Add : a.op;
  const std::int64_t n = data.row;
  std::vector<Real> sum(static_cast<std::size_t>(n)), row(static_cast<std::size_t>(n));
  load(data, 0, n, sum.data());
  for (std::int64_t p = 1; p < data.rows; ++p) {
    combine<Real>(op, {sum.data()}, {view(data, p * n, n, row.data())}, sum.data(), n);
  }
  if (a.op == AluOp::Average) {
    for (Real& v : sum) v /= static_cast<Real>(data.rows);
  }
  store(dst, 0, n, sum.data(), e.rounder(I::dst));
}

template void execute<float>(const Execution&, const isa::Iota&);
template void execute<double>(const Execution&, const isa::Iota&);
template void execute<float>(const Execution&, const isa::AffineSelect&);
template void execute<double>(const Execution&, const isa::AffineSelect&);
template void execute<float>(const Execution&, const isa::LocalGather&);
template void execute<double>(const Execution&, const isa::LocalGather&);
template void execute<float>(const Execution&, const isa::NonzeroWithCount&);
template void execute<double>(const Execution&, const isa::NonzeroWithCount&);
template void execute<float>(const Execution&, const isa::TensorPartitionReduce&);
template void execute<double>(const Execution&, const isa::TensorPartitionReduce&);

}  // namespace trn::neuron::sim
