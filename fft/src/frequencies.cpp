// Frequencies, shifts and fast lengths.
#include <trn/fft/frequencies.hpp>

#include <cmath>
#include <numeric>

#include "views.hpp"

namespace trn::fft {
namespace {

void check(const char* operation, std::int64_t n, double spacing) {
  require(n >= 1, "{}: n is {}; it must be at least 1", operation, n);
  require(std::isfinite(spacing) && spacing != 0, "{}: the spacing is {}; give a finite number other than 0", operation,
          spacing);
}

template <class T> Array<T> table(const Executor& e, std::int64_t count, std::int64_t n, double spacing, bool half) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t k = half || i <= (n - 1) / 2 ? i : i - n;
    values[static_cast<std::size_t>(i)] =
        static_cast<T>(static_cast<long double>(k) / (static_cast<long double>(n) * spacing));
  }
  return Array<T>::from_host(e, {count}, values);
}

}  // namespace

template <Real T> Array<T> fftfreq(const Executor& e, std::int64_t n, double spacing) {
  check("fft.fftfreq", n, spacing);
  return table<T>(e, n, n, spacing, false);
}
template <Real T> Array<T> rfftfreq(const Executor& e, std::int64_t n, double spacing) {
  check("fft.rfftfreq", n, spacing);
  return table<T>(e, n / 2 + 1, n, spacing, true);
}

namespace detail {

template <class T> Array<T> shift(const char* operation, const Executor& e, const View<const T>& x,
                                  const ShiftOptions& options, bool inverse) {
  check_owner(operation, "x", e, x.executor());
  std::vector<std::int64_t> all(x.shape().size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  std::vector<std::size_t> axes = axes_of(operation, options.axes.value_or(all), x.shape().size());
  std::erase_if(axes, [&](std::size_t axis) { return x.shape()[axis] < 2; });  // nothing moves there
  Array<T> y(e, x.shape());
  // Each axis has two pieces that change places; every combination of pieces is one copy.
  Moves moves(e);
  for (std::size_t mask = 0; mask < (std::size_t{1} << axes.size()); ++mask) {
    Shape from(x.shape().size(), 0), to(from), extents = x.shape();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t n = x.shape()[axes[i]], by = inverse ? n - n / 2 : n / 2;  // y[(j + by) % n] = x[j]
      const bool tail = (mask >> i) % 2 != 0;
      from[axes[i]] = tail ? n - by : 0;
      to[axes[i]] = tail ? 0 : by;
      extents[axes[i]] = tail ? by : n - by;
    }
    moves.elements(box(x, from, extents), box(y.view(), to, extents));
  }
  moves.run();
  return y;
}

template Array<float> shift(const char*, const Executor&, const View<const float>&, const ShiftOptions&, bool);
template Array<double> shift(const char*, const Executor&, const View<const double>&, const ShiftOptions&, bool);
template Array<std::complex<float>> shift(const char*, const Executor&, const View<const std::complex<float>>&,
                                          const ShiftOptions&, bool);
template Array<std::complex<double>> shift(const char*, const Executor&, const View<const std::complex<double>>&,
                                           const ShiftOptions&, bool);

}  // namespace detail

std::int64_t next_fast_len(std::int64_t n) {
  require(n >= 1 && n <= (std::int64_t{1} << 60), "fft.next_fast_len: n is {}; it must be 1 to 2^60", n);
  std::int64_t best = std::int64_t{1} << 61;
  // Every 3^a 5^b 7^c below `best`, filled up with powers of two.
  for (std::int64_t a = 1; a < best; a *= 3) {
    for (std::int64_t b = a; b < best; b *= 5) {
      for (std::int64_t c = b; c < best; c *= 7) {
        std::int64_t length = c;
        while (length < n) length *= 2;
        best = std::min(best, length);
        if (c >= n) break;
      }
      if (b >= n) break;
    }
    if (a >= n) break;
  }
  return best;
}

template Array<float> fftfreq<float>(const Executor&, std::int64_t, double);
template Array<double> fftfreq<double>(const Executor&, std::int64_t, double);
template Array<float> rfftfreq<float>(const Executor&, std::int64_t, double);
template Array<double> rfftfreq<double>(const Executor&, std::int64_t, double);

}  // namespace trn::fft
