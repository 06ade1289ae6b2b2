// The Vector Engine's searches for 8 values at a time. Elements are compared in fp32 (double in Wide storage) after
// widening, so 32-bit integers that fp32 does not tell apart are equal. A NaN counts as larger than every number in
// max8, as maximum gives NaN; it equals nothing, so no search finds it.
#include <array>
#include <limits>

#include "sim/engines.hpp"

namespace trn::neuron::sim {

namespace {

constexpr std::int64_t kValues = 8;

// The place of a value that is not there: all bits set.
double no_place(const Operand& places) {
  return places.dtype == DType::UInt16 ? double(std::numeric_limits<std::uint16_t>::max())
                                       : double(std::numeric_limits<std::uint32_t>::max());
}

// The place of the first element after `after` that equals `value`, or n.
template <class Real> std::int64_t next_equal(const Real* x, std::int64_t n, std::int64_t after, Real value) {
  std::int64_t i = after + 1;
  while (i < n && x[i] != value) ++i;
  return i;
}

template <class Real> bool larger(Real a, Real b) { return a > b || (a != a && b == b); }

}  // namespace

// Equal values keep the order in which they stand in src.
template <class Real> void execute(const Execution& e, const isa::Max8&) {
  using I = isa::Max8;
  const Operand src = e.read(I::src), dst = e.write(I::dst);
  ensure(src.row >= kValues && dst.row == kValues, "simulator: max8 of {} elements into {}", src.row, dst.row);
  for_each_row<Real>(src.rows, src.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const Real* x = view(src, p * src.row, src.row, buffers.get(0, src.row));
    std::array<Real, kValues> best{};
    std::int64_t held = 0;
    for (std::int64_t i = 0; i < src.row; ++i) {
      std::int64_t at = held;
      while (at > 0 && larger(x[i], best[static_cast<std::size_t>(at - 1)])) --at;
      if (at == kValues) continue;
      if (held < kValues) ++held;
      for (std::int64_t j = held - 1; j > at; --j)
        best[static_cast<std::size_t>(j)] = best[static_cast<std::size_t>(j - 1)];
      best[static_cast<std::size_t>(at)] = x[i];
    }
    store(dst, p * kValues, kValues, best.data(), e.rounder(I::dst));
  });
}

// The k-th of equal values gets the k-th place where data equals it.
template <class Real> void execute(const Execution& e, const isa::NcFindIndex8&) {
  using I = isa::NcFindIndex8;
  const Operand data = e.read(I::data), vals = e.read(I::vals), dst = e.write(I::dst);
  ensure(vals.row == kValues && dst.row == kValues, "simulator: {} values into {} places", vals.row, dst.row);
  for_each_row<Real>(data.rows, data.row, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    const std::int64_t n = data.row;
    const Real* x = view(data, p * n, n, buffers.get(0, n));
    const Real* v = view(vals, p * kValues, kValues, buffers.get(1, kValues));
    std::array<double, kValues> places{};
    for (std::size_t j = 0; j < places.size(); ++j) {
      std::int64_t at = next_equal(x, n, -1, v[j]);
      for (std::size_t k = 0; k < j; ++k) {
        if (v[k] == v[j] && at < n) at = next_equal(x, n, at, v[j]);
      }
      places[j] = at < n ? static_cast<double>(at) : no_place(dst);
    }
    store_values(dst, p * kValues, kValues, places.data());
  });
}

// Values in the order 7, 6, ..., 0; a place that one of them took is not found again, whatever imm is. What is not
// replaced keeps its bits where dst has data's dtype.
template <class Real> void execute(const Execution& e, const isa::NcMatchReplace8& a) {
  using I = isa::NcMatchReplace8;
  const Operand data = e.read(I::data), vals = e.read(I::vals), dst = e.write(I::dst);
  const Operand dst_idx = e.has(I::dst_idx) ? e.write(I::dst_idx) : Operand{};
  ensure(vals.row == kValues, "simulator: {} values to replace", vals.row);
  const std::int64_t n = data.row;
  for_each_row<Real>(data.rows, n, [&](std::int64_t p, RowBuffers<Real>& buffers) {
    Real* x = buffers.get(0, n);
    load(data, p * n, n, x);
    const Real* v = view(vals, p * kValues, kValues, buffers.get(1, kValues));
    std::array<double, kValues> mine{};
    for (std::size_t j = kValues; j-- > 0;) {
      std::int64_t at = -1;
      const auto taken = [&] {
        return std::find(mine.begin() + static_cast<std::ptrdiff_t>(j) + 1, mine.end(), double(at)) != mine.end();
      };
      do at = next_equal(x, n, at, v[j]);
      while (at < n && taken());
      mine[j] = at < n ? static_cast<double>(at) : -1;
    }
    const auto replace = [&](auto&& write) {
      for (const double at : mine) {
        if (at >= 0) write(static_cast<std::int64_t>(at));
      }
    };
    if (dst.dtype == data.dtype) {
      const std::int64_t bytes = cell_bytes<Real>(data);
      auto* cells =
          reinterpret_cast<std::byte*>(buffers.get(2, n * bytes / static_cast<std::int64_t>(sizeof(Real)) + 1));
      load_cells<Real>(data, p * n, n, cells);
      const std::array<std::byte, 8> imm = constant_cell<Real>(dst.dtype, a.imm);
      replace([&](std::int64_t at) { std::copy_n(imm.begin(), bytes, cells + at * bytes); });
      store_cells<Real>(dst, p * n, n, cells);
    } else {
      replace([&](std::int64_t at) { x[at] = static_cast<Real>(a.imm); });
      store(dst, p * n, n, x, e.rounder(I::dst));
    }
    if (!e.has(I::dst_idx)) return;
    std::array<double, kValues> out = mine;
    for (double& at : out) at = at < 0 ? no_place(dst_idx) : at;
    store_values(dst_idx, p * kValues, kValues, out.data());
  });
}

#define TRN_INSTANTIATE(Real)                                              \
  template void execute<Real>(const Execution&, const isa::Max8&);         \
  template void execute<Real>(const Execution&, const isa::NcFindIndex8&); \
  template void execute<Real>(const Execution&, const isa::NcMatchReplace8&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
#undef TRN_INSTANTIATE

}  // namespace trn::neuron::sim
