// Sample frequencies of a transform, shifts of its zero to the middle, and lengths that are fast. numpy.fft's and
// scipy.fft's functions of these names.
//
// fftfreq and rfftfreq are tables: each value is one correctly rounded quotient, made on the host and copied to the
// executor. The shifts are copies, bit for bit, on every executor.
#pragma once

#include <optional>
#include <vector>

#include <trn/fft/operand.hpp>

namespace trn::fft {

// 0, 1, ..., (n-1)/2, -(n/2), ..., -1, each divided by n * spacing. Throws InvalidArgument for n < 1 or a spacing that
// is zero or not finite.
template <Real T = double> [[nodiscard]] Array<T> fftfreq(const Executor& executor, std::int64_t n, double spacing = 1);
// 0, 1, ..., n/2, each divided by n * spacing.
template <Real T = double>
[[nodiscard]] Array<T> rfftfreq(const Executor& executor, std::int64_t n, double spacing = 1);

struct ShiftOptions {
  std::optional<std::vector<std::int64_t>> axes{};  // default: all
};

namespace detail {
template <class T> [[nodiscard]] Array<T> shift(const char* operation, const Executor&, const View<const T>&,
                                                const ShiftOptions&, bool inverse);
}

// Moves index 0 of each axis to n/2. ifftshift undoes it (for odd n the two differ).
template <Operand X>
[[nodiscard]] Array<ElementOf<X>> fftshift(const Executor& e, const X& x, const ShiftOptions& o = {}) {
  return detail::shift("fft.fftshift", e, view_of(x), o, false);
}
template <Operand X>
[[nodiscard]] Array<ElementOf<X>> ifftshift(const Executor& e, const X& x, const ShiftOptions& o = {}) {
  return detail::shift("fft.ifftshift", e, view_of(x), o, true);
}

// The smallest length >= n whose prime factors are 2, 3, 5 and 7: those the engines have butterflies for. Throws
// InvalidArgument for n < 1 or n > 2^60.
[[nodiscard]] std::int64_t next_fast_len(std::int64_t n);

}  // namespace trn::fft
