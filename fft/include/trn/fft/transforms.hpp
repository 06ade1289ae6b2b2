// Transforms of arrays in the manner of numpy.fft and scipy.fft: the result is a new dense array.
//
//   auto y = fft(exec, x, {.n = 16, .axis = 0, .norm = Norm::Ortho});
//
//   fft    y_k = sum_j x_j exp(-2 pi i jk/n)      ifft   x_j = 1/n sum_k y_k exp(+2 pi i jk/n)
//   rfft   fft of a real array, k = 0 .. n/2      irfft  its inverse: n points from n/2 + 1
//   hfft   real spectrum of a Hermitian signal    ihfft  its inverse
//
// and the same over several axes (fft2, fftn, ...), where the last axis given is the one that real transforms halve.
// fft of a real array is that of a complex one with zero imaginary parts. SciPy's semantics throughout: an axis that is
// longer than asked is cut at its end, a shorter one is padded with zeros.
//
// Every function makes a Plan (or takes it from `cache`) and is as accurate as the plan says; on a device the plan runs
// there. A cut is a layout of the plan and copies nothing; padding writes the array once into the result's memory, or
// into a temporary where a real array is padded along an axis that is not its last or a half spectrum is padded. Throws
// InvalidArgument for axes out of range or given twice, lengths < 1, an array of another executor.
#pragma once

#include <optional>
#include <vector>

#include <trn/fft/operand.hpp>
#include <trn/fft/plan_cache.hpp>

namespace trn::fft {

// Which direction carries 1/N: the inverse, neither (both 1/sqrt(N)), the forward one.
enum class Norm : std::uint8_t { Backward, Ortho, Forward };
[[nodiscard]] const char* name(Norm norm);

struct TransformOptions {
  std::optional<std::int64_t> n{};  // length of the transform; default: the axis' (irfft, hfft: 2 (m - 1))
  std::int64_t axis = -1;
  Norm norm = Norm::Backward;
  Precision precision = {};
  PlanCache* cache = nullptr;
};

struct TransformNOptions {
  std::optional<std::vector<std::int64_t>> s{};  // lengths, one per axis
  std::optional<std::vector<std::int64_t>>
      axes{};  // default: the last s.size(), without s all (the functions ending in 2: the last two)
  Norm norm = Norm::Backward;
  Precision precision = {};
  PlanCache* cache = nullptr;
};

namespace detail {

struct TransformRequest {
  const char* operation;
  Direction direction;
  TransformNOptions options;
};
[[nodiscard]] TransformRequest request(const char* operation, Direction direction, const TransformOptions& options);
[[nodiscard]] TransformRequest request2(const char* operation, Direction direction, TransformNOptions options);

template <Real T> [[nodiscard]] Array<std::complex<T>> full_transform(const Executor&,
                                                                      const View<const std::complex<T>>&,
                                                                      const TransformRequest&);
template <Real T>
[[nodiscard]] Array<std::complex<T>> full_transform(const Executor&, const View<const T>&, const TransformRequest&);
template <Real T>
[[nodiscard]] Array<std::complex<T>> to_half(const Executor&, const View<const T>&, const TransformRequest&);
template <Real T>
[[nodiscard]] Array<T> from_half(const Executor&, const View<const std::complex<T>>&, const TransformRequest&);

}  // namespace detail

template <Operand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> fft(const Executor& e, const X& x, const TransformOptions& o = {}) {
  return detail::full_transform(e, view_of(x), detail::request("fft.fft", Direction::Forward, o));
}
template <Operand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> ifft(const Executor& e, const X& x, const TransformOptions& o = {}) {
  return detail::full_transform(e, view_of(x), detail::request("fft.ifft", Direction::Inverse, o));
}
template <RealOperand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> rfft(const Executor& e, const X& x, const TransformOptions& o = {}) {
  return detail::to_half(e, view_of(x), detail::request("fft.rfft", Direction::Forward, o));
}
template <ComplexOperand X>
[[nodiscard]] Array<RealOf<X>> irfft(const Executor& e, const X& x, const TransformOptions& o = {}) {
  return detail::from_half(e, view_of(x), detail::request("fft.irfft", Direction::Inverse, o));
}
template <ComplexOperand X>
[[nodiscard]] Array<RealOf<X>> hfft(const Executor& e, const X& x, const TransformOptions& o = {}) {
  return detail::from_half(e, view_of(x), detail::request("fft.hfft", Direction::Forward, o));
}
template <RealOperand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> ihfft(const Executor& e, const X& x, const TransformOptions& o = {}) {
  return detail::to_half(e, view_of(x), detail::request("fft.ihfft", Direction::Inverse, o));
}

template <Operand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> fftn(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::full_transform(e, view_of(x), {"fft.fftn", Direction::Forward, o});
}
template <Operand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> ifftn(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::full_transform(e, view_of(x), {"fft.ifftn", Direction::Inverse, o});
}
template <RealOperand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> rfftn(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::to_half(e, view_of(x), {"fft.rfftn", Direction::Forward, o});
}
template <ComplexOperand X>
[[nodiscard]] Array<RealOf<X>> irfftn(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::from_half(e, view_of(x), {"fft.irfftn", Direction::Inverse, o});
}
template <ComplexOperand X>
[[nodiscard]] Array<RealOf<X>> hfftn(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::from_half(e, view_of(x), {"fft.hfftn", Direction::Forward, o});
}
template <RealOperand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> ihfftn(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::to_half(e, view_of(x), {"fft.ihfftn", Direction::Inverse, o});
}

template <Operand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> fft2(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::full_transform(e, view_of(x), detail::request2("fft.fft2", Direction::Forward, o));
}
template <Operand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> ifft2(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::full_transform(e, view_of(x), detail::request2("fft.ifft2", Direction::Inverse, o));
}
template <RealOperand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> rfft2(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::to_half(e, view_of(x), detail::request2("fft.rfft2", Direction::Forward, o));
}
template <ComplexOperand X>
[[nodiscard]] Array<RealOf<X>> irfft2(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::from_half(e, view_of(x), detail::request2("fft.irfft2", Direction::Inverse, o));
}
template <ComplexOperand X>
[[nodiscard]] Array<RealOf<X>> hfft2(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::from_half(e, view_of(x), detail::request2("fft.hfft2", Direction::Forward, o));
}
template <RealOperand X>
[[nodiscard]] Array<std::complex<RealOf<X>>> ihfft2(const Executor& e, const X& x, const TransformNOptions& o = {}) {
  return detail::to_half(e, view_of(x), detail::request2("fft.ihfft2", Direction::Inverse, o));
}

}  // namespace trn::fft
