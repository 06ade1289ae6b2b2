// Windows on views, moves of elements, and what the functions in the NumPy manner check of axes. Everything here works
// on every executor.
#pragma once

#include <algorithm>
#include <complex>
#include <numeric>
#include <optional>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/dispatch.hpp>
#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>
#include <trn/fft/plan_cache.hpp>

#include "elementwise.hpp"

namespace trn::fft {

// The elements from `start` on, `extents` of them.
template <class T> [[nodiscard]] View<T> box(const View<T>& x, const Shape& start, const Shape& extents) {
  std::int64_t offset = 0;
  const bool empty = element_count(extents) == 0;
  for (std::size_t d = 0; d < start.size() && !empty; ++d) offset += start[d] * x.strides()[d];
  return {x.executor(), x.data() + offset, extents, x.strides()};
}

// Copies and zeros on one executor: on the host at once, on a device as one program when run() says so.
class Moves {
 public:
  explicit Moves(const Executor& e) : e_(e) {}
  template <class T> void zero(const View<T>& to) {
    if (to.size() == 0) return;
    if (e_.family() == Family::Device) return add<T>(to.shape(), nullptr, {}, to.data(), to.strides());
    static const T zero{};
    copy(View<const T>(Executor::host(), &zero, to.shape(), Strides(to.shape().size(), 0)), to);
  }
  template <class T> void elements(const View<const T>& from, const View<T>& to) {
    if (to.size() == 0) return;
    if (e_.family() == Family::Device) return add<T>(to.shape(), from.data(), from.strides(), to.data(), to.strides());
    copy(from, to);
  }
  void run() {
    if (!args_.moves.empty()) dispatch(kMove, e_, args_);
    args_.moves.clear();
  }

 private:
  template <class T>
  void add(const Shape& shape, const void* from, Strides from_strides, void* to, Strides to_strides) {
    constexpr auto kWords = static_cast<std::int64_t>(sizeof(T) / 4);
    for (Strides* strides : {&from_strides, &to_strides}) {
      for (std::int64_t& s : *strides) s *= kWords;
    }
    args_.moves.push_back({shape, from, std::move(from_strides), to, std::move(to_strides), kWords});
  }
  Executor e_;
  MoveArgs args_;
};

// x = 0.
template <class T> void fill_zero(const View<T>& x) {
  Moves moves(x.executor());
  moves.zero(x);
  moves.run();
}
// to = from, both on one executor.
template <class T> void move_elements(const View<const T>& from, const View<T>& to) {
  Moves moves(to.executor());
  moves.elements(from, to);
  moves.run();
}
template <class T> void move_elements(const View<T>& from, const View<T>& to) {
  move_elements(View<const T>(from), to);
}

// to = from in its corner at `corner`, zeros elsewhere; what does not fit is cut.
template <class T> void copy_padded(const View<const T>& from, const View<T>& to, Shape corner = {}) {
  if (corner.empty()) corner.assign(to.shape().size(), 0);
  Moves moves(to.executor());
  Shape common = to.shape(), start(to.shape().size(), 0), rest = to.shape();
  for (std::size_t d = 0; d < common.size(); ++d) common[d] = std::min(to.shape()[d] - corner[d], from.shape()[d]);
  // The places outside, as one slab before and one behind per axis.
  for (std::size_t d = 0; d < common.size(); ++d) {
    rest[d] = corner[d];
    moves.zero(box(to, start, rest));
    start[d] = corner[d] + common[d];
    rest[d] = to.shape()[d] - start[d];
    moves.zero(box(to, start, rest));
    start[d] = corner[d];
    rest[d] = common[d];
  }
  moves.elements(box(from, Shape(common.size(), 0), common), box(to, start, common));
  moves.run();
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

// A plan for one call: from the cache where there is one.
template <Real T> [[nodiscard]] Plan<T> plan_for(const Executor& e, const Description& d, PlanCache* cache) {
  return cache ? cache->get<T>(e, d) : Plan<T>(e, d);
}

// Functions whose device kernels compute in fp32 alone.
template <Real T> void check_type(const char* operation, const Executor& e) {
  if (e.family() == Family::Host || std::same_as<T, float>) return;
  fail<NotImplemented>("{}: executor '{}' computes this in float32 only, not in float64; use float, or the host",
                       operation, e.name());
}

using operands::check_owner;

// -1 is the last axis.
inline std::size_t axis_of(const char* operation, std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  require(r > 0, "{}: the array has rank 0; give it at least one axis", operation);
  require(-r <= axis && axis < r, "{}: axis {} of an array of rank {}; use {} to {}", operation, axis, r, -r, r - 1);
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}
inline std::vector<std::size_t> axes_of(const char* operation, const std::vector<std::int64_t>& axes,
                                        std::size_t rank) {
  require(!axes.empty(), "{}: no axes; give at least one", operation);
  std::vector<std::size_t> result;
  for (const std::int64_t a : axes) {
    const std::size_t axis = axis_of(operation, a, rank);
    require(std::find(result.begin(), result.end(), axis) == result.end(),
            "{}: axis {} is given twice; give each axis once", operation, axis);
    result.push_back(axis);
  }
  return result;
}

// The axes of an n-dimensional function: those given, or the last as many as there are lengths, or all; with one length
// each where lengths are given.
inline std::vector<std::size_t> axes_with_lengths(const char* operation,
                                                  const std::optional<std::vector<std::int64_t>>& axes,
                                                  const std::optional<std::vector<std::int64_t>>& lengths,
                                                  std::size_t rank) {
  require(rank > 0, "{}: the array has rank 0; give it at least one axis", operation);
  std::vector<std::int64_t> wanted;
  if (axes) {
    wanted = *axes;
  } else {
    wanted.resize(lengths ? lengths->size() : rank);
    require(wanted.size() <= rank, "{}: {} lengths for an array of rank {}; give at most one per axis", operation,
            wanted.size(), rank);
    std::iota(wanted.begin(), wanted.end(), -static_cast<std::int64_t>(wanted.size()));
  }
  std::vector<std::size_t> found = axes_of(operation, wanted, rank);
  require(!lengths || lengths->size() == found.size(), "{}: {} lengths for {} axes; give one per axis", operation,
          lengths ? lengths->size() : 0, found.size());
  return found;
}

}  // namespace trn::fft
