// Strided memory to dense memory and back, in units of reals.
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace trn::dropin {

struct Extent {
  std::int64_t n, stride;
};

// The elements of one side, slowest dimension first: the batch, then the axes. The complex side of a real transform has
// n/2 + 1 points along the last axis. Strides become reals: a pair takes two.
[[nodiscard]] inline std::vector<Extent> side_extents(const Problem& p, bool input) {
  const bool is_complex = input ? p.complex_input() : p.complex_output();
  const std::int64_t unit = is_complex && !p.split ? 2 : 1;
  std::vector<Extent> e;
  for (const Axis& b : p.batch) e.push_back({b.n, (input ? b.is : b.os) * unit});
  for (const Axis& a : p.axes) e.push_back({a.n, (input ? a.is : a.os) * unit});
  if (is_complex && p.form != Form::C2C && !p.axes.empty()) e.back().n = e.back().n / 2 + 1;
  return e;
}

// Calls f(offset) for every element in row-major order.
template <class F> void each_element(const std::vector<Extent>& e, const F& f, std::size_t d = 0, std::int64_t at = 0) {
  if (d == e.size()) return f(at);
  if (d + 1 == e.size()) {
    for (std::int64_t i = 0; i < e[d].n; ++i) f(at + i * e[d].stride);
    return;
  }
  for (std::int64_t i = 0; i < e[d].n; ++i) each_element(e, f, d + 1, at + i * e[d].stride);
}

[[nodiscard]] inline std::int64_t count(const std::vector<Extent>& e) {
  std::int64_t n = 1;
  for (const Extent& x : e) n *= x.n;
  return n;
}

// Reals, or complex numbers as pairs from `re` and `im`.
template <class T>
[[nodiscard]] std::vector<T> gather(const std::vector<Extent>& e, const T* re, const T* im, bool is_complex) {
  std::vector<T> dense(static_cast<std::size_t>(count(e)) * (is_complex ? 2 : 1));
  T* to = dense.data();
  if (!is_complex) {
    each_element(e, [&](std::int64_t at) { *to++ = re[at]; });
  } else {
    const T* second = im ? im : re + 1;
    each_element(e, [&](std::int64_t at) { *to++ = re[at], *to++ = second[at]; });
  }
  return dense;
}
template <class T> void scatter(const std::vector<Extent>& e, const T* dense, T* re, T* im, bool is_complex) {
  if (!is_complex) {
    each_element(e, [&](std::int64_t at) { re[at] = *dense++; });
  } else {
    T* second = im ? im : re + 1;
    each_element(e, [&](std::int64_t at) { re[at] = *dense++, second[at] = *dense++; });
  }
}

}  // namespace trn::dropin
