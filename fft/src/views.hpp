// Windows on views, and what the functions in the NumPy manner check of axes. Everything here works on every executor: the only thing
// done to elements is copy().
#pragma once

#include <algorithm>
#include <complex>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/dispatch.hpp>
#include <trn/core/error.hpp>
#include <trn/fft/types.hpp>

namespace trn::fft {

// The elements from `start` on, `extents` of them.
template <class T> [[nodiscard]] View<T> box(const View<T>& x, const Shape& start, const Shape& extents) {
  std::int64_t offset = 0;
  const bool empty = element_count(extents) == 0;
  for (std::size_t d = 0; d < start.size() && !empty; ++d) offset += start[d] * x.strides()[d];
  return {x.executor(), x.data() + offset, extents, x.strides()};
}

// x = 0.
template <class T> void fill_zero(const View<T>& x) {
  static const T zero{};
  copy(View<const T>(Executor::host(), &zero, x.shape(), Strides(x.shape().size(), 0)), x);
}

// to = from in its first corner, zeros elsewhere; what does not fit is cut.
template <class T> void copy_padded(const View<const T>& from, const View<T>& to) {
  Shape common = to.shape(), start(to.shape().size(), 0), rest = to.shape();
  for (std::size_t d = 0; d < common.size(); ++d) common[d] = std::min(common[d], from.shape()[d]);
  // The places outside the corner, as one slab per axis.
  for (std::size_t d = 0; d < common.size(); ++d) {
    start[d] = common[d];
    rest[d] = to.shape()[d] - common[d];
    if (element_count(rest) > 0) fill_zero(box(to, start, rest));
    start[d] = 0;
    rest[d] = common[d];
  }
  copy(box(from, start, common), box(to, start, common));
}

// The real parts of a complex view.
template <class T> [[nodiscard]] View<T> real_parts(const View<std::complex<T>>& x) {
  Strides strides = x.strides();
  for (std::int64_t& s : strides) s *= 2;
  return {x.executor(), reinterpret_cast<T*>(x.data()), x.shape(), strides};
}
template <class T> [[nodiscard]] View<T> imaginary_parts(const View<std::complex<T>>& x) {
  const View<T> re = real_parts(x);
  return {re.executor(), re.data() == nullptr ? nullptr : re.data() + 1, re.shape(), re.strides()};
}

// Refuses before anything is computed what dispatch() would refuse in the middle of a function that calls several kernels.
template <class Args> void check_kernel(const char* operation, const KernelTable<Args>& kernels, const Executor& e) {
  if ((e.family() == Family::Host ? kernels.host : kernels.device) != nullptr) return;
  fail<NotImplemented>("{}: no {} kernel for these types on executor '{}'; use an executor of the other family", operation,
                       name(e.family()), e.name());
}

inline void check_owner(const char* operation, const char* operand, const Executor& call, const Executor& owner) {
  require(owner == call, "{}: {} lives on executor '{}', the call runs on '{}'; give an array of that executor", operation, operand,
          owner.name(), call.name());
}

// -1 is the last axis.
inline std::size_t axis_of(const char* operation, std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  require(r > 0, "{}: the array has rank 0; give it at least one axis", operation);
  require(-r <= axis && axis < r, "{}: axis {} of an array of rank {}; use {} to {}", operation, axis, r, -r, r - 1);
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}
inline std::vector<std::size_t> axes_of(const char* operation, const std::vector<std::int64_t>& axes, std::size_t rank) {
  require(!axes.empty(), "{}: no axes; give at least one", operation);
  std::vector<std::size_t> result;
  for (const std::int64_t a : axes) {
    const std::size_t axis = axis_of(operation, a, rank);
    require(std::find(result.begin(), result.end(), axis) == result.end(), "{}: axis {} is given twice; give each axis once", operation,
            axis);
    result.push_back(axis);
  }
  return result;
}

}  // namespace trn::fft
