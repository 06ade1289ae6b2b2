// Level 1 on the host, the operations that reduce vectors to a number.
//
// dot and asum are OpenBLAS's, asum of complex vectors as a real sum over the parts: scasum of OpenBLAS 0.3.21 drops
// elements on processors with AVX-512 (n = 17, 513, ...). nrm2 is ours: a plain sum of squares, which runs at memory
// speed, and only when that sum left the range where it is accurate Blue's three scaled sums. amax and amin are ours
// too: OpenBLAS skips or keeps NaN differently from kernel to kernel; the reference keeps the first element unless a
// later one compares larger, so a NaN wins in front and loses elsewhere. Exact sums go through ExactSum.
#include <algorithm>
#include <cmath>
#include <limits>
#include <trn/core/exact_sum.hpp>
#include <trn/core/parallel.hpp>

#include "../kernels.hpp"
#include "cblas.hpp"
#include "exact_dot.hpp"
#include "vectors.hpp"

namespace trn::blas::host {

namespace {

template <class R> R magnitude(R x) { return std::abs(x); }
template <class R> R magnitude(std::complex<R> x) { return std::abs(x.real()) + std::abs(x.imag()); }

// The first element that no later one beats. Blocks: a branch-free extreme of each (16 running values, so that the
// compiler can use vectors), and a search only in blocks that hold a better one.
template <class T, class Better> std::int64_t extreme(const T* x, std::int64_t n, std::int64_t stride, Better better) {
  using R = Real<T>;
  constexpr std::int64_t kBlock = 512, kLanes = 16;
  std::int64_t best_index = 0;
  R best = magnitude(x[0]);
  if (std::isnan(best)) return 0;
  for (std::int64_t i0 = 0; i0 < n; i0 += kBlock) {
    const std::int64_t count = std::min(kBlock, n - i0);
    R candidate = best;
    if (stride == 1 && count == kBlock) {
      R lane[kLanes];
      std::fill(lane, lane + kLanes, best);
      for (std::int64_t i = 0; i < kBlock; i += kLanes) {
        for (std::int64_t l = 0; l < kLanes; ++l) {
          const R m = magnitude(x[i0 + i + l]);
          lane[l] = better(m, lane[l]) ? m : lane[l];
        }
      }
      for (const R m : lane) candidate = better(m, candidate) ? m : candidate;
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        const R m = magnitude(x[(i0 + i) * stride]);
        candidate = better(m, candidate) ? m : candidate;
      }
    }
    if (!better(candidate, best)) continue;
    best = candidate;
    best_index = i0;
    while (magnitude(x[best_index * stride]) != best) ++best_index;
  }
  return best_index;
}

// Sum of squares in 16 running sums, so that additions of neighbours do not wait for one another. A sum of n squares
// errs by less than (n / 16 + 5) u.
template <class Sum, class R> Sum sum_of_squares(const R* x, std::int64_t n, std::int64_t stride) {
  constexpr std::int64_t kLanes = 16;
  Sum lane[kLanes] = {};
  std::int64_t i = 0;
  if (stride == 1) {
    for (; i + kLanes <= n; i += kLanes) {
      for (std::int64_t l = 0; l < kLanes; ++l) {
        const Sum v = x[i + l];
        lane[l] += v * v;
      }
    }
  }
  for (; i < n; ++i) {
    const Sum v = x[i * stride];
    lane[i % kLanes] += v * v;
  }
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

// A vector of complex numbers as one or two vectors of its parts.
template <class Sum, class T> Sum squares(const T* x, std::int64_t n, std::int64_t stride) {
  using R = Real<T>;
  const R* parts = reinterpret_cast<const R*>(x);
  const auto serial = [](const R* v, std::int64_t count, std::int64_t step) -> Sum {
    constexpr std::int64_t kParallel = 1 << 17;  // below, starting threads costs more than the sum
    if (count < kParallel) return sum_of_squares<Sum>(v, count, step);
    constexpr std::int64_t kPiece = 1 << 15;
    return parallel_sum<Sum>((count + kPiece - 1) / kPiece, true, [&](std::int64_t piece) {
      const std::int64_t i = piece * kPiece;
      return sum_of_squares<Sum>(v + i * step, std::min(kPiece, count - i), step);
    });
  };
  if constexpr (RealScalar<T>) {
    return serial(parts, n, stride);
  } else {
    if (stride == 1) return serial(parts, 2 * n, 1);
    return serial(parts, n, 2 * stride) + serial(parts + 1, n, 2 * stride);
  }
}

// Blue's algorithm: large elements scaled down, small ones up, three sums. Infinities and NaN come out as such.
template <class T> double scaled_norm(const T* x, std::int64_t n, std::int64_t stride) {
  const double* parts = reinterpret_cast<const double*>(x);
  constexpr std::int64_t kParts = sizeof(T) / sizeof(double);
  constexpr double kSmall = 0x1p-511, kLarge = 0x1p486, kUp = 0x1p537, kDown = 0x1p-538;
  double small = 0, medium = 0, large = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t p = 0; p < kParts; ++p) {
      const double v = std::abs(parts[i * stride * kParts + p]);
      if (v > kLarge) {
        large += (v * kDown) * (v * kDown);
      } else if (v < kSmall) {
        small += (v * kUp) * (v * kUp);
      } else {
        medium += v * v;  // also NaN
      }
    }
  }
  if (large > 0) return std::sqrt(large + (medium * kDown) * kDown) / kDown;
  if (small == 0 || std::isnan(medium)) return std::sqrt(medium);
  const double up = std::sqrt(small) / kUp, mid = std::sqrt(medium);
  const double high = std::max(up, mid), low = std::min(up, mid);
  return high * std::sqrt(1 + (low / high) * (low / high));
}

template <class T> double norm(const T* x, std::int64_t n, std::int64_t stride) {
  if constexpr (std::same_as<Real<T>, float>) {
    return static_cast<float>(
        std::sqrt(squares<double>(x, n, stride)));  // squares of floats stay within double's range
  } else {
    const double s = squares<double>(x, n, stride);
    // Squares that underflowed lost at most 2^-1074 each: nothing beside a sum of 2^-900 and up to 2^64 terms.
    if (s > 0x1p-900 && s < std::numeric_limits<double>::infinity()) return std::sqrt(s);
    return scaled_norm(x, n, stride);
  }
}

template <class T> void accumulate(ExactSum& re, ExactSum& im, const T* x, std::int64_t incx, const T* y,
                                   std::int64_t incy, std::int64_t n, bool conj) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T a = x[i * incx], b = y[i * incy];
    if constexpr (RealScalar<T>) {
      re.add_product(a, b);
    } else {
      const double ai = conj ? -a.imag() : a.imag();
      re.add_product(a.real(), b.real()), re.add_product(-ai, b.imag());
      im.add_product(a.real(), b.imag()), im.add_product(ai, b.real());
    }
  }
}

}  // namespace

template <class T>
T exact_dot(const T* x, std::int64_t incx, const T* y, std::int64_t incy, std::int64_t n, bool conj) {
  ExactSum re, im;
  accumulate(re, im, x, incx, y, incy, n, conj);
  const auto value = [](const ExactSum& s) {
    if constexpr (std::same_as<Real<T>, float>) {
      return s.to_float();
    } else {
      return s.to_double();
    }
  };
  if constexpr (RealScalar<T>) {
    return value(re);
  } else {
    return {value(re), value(im)};
  }
}
template float exact_dot(const float*, std::int64_t, const float*, std::int64_t, std::int64_t, bool);
template double exact_dot(const double*, std::int64_t, const double*, std::int64_t, std::int64_t, bool);
template std::complex<float> exact_dot(const std::complex<float>*, std::int64_t, const std::complex<float>*,
                                       std::int64_t, std::int64_t, bool);
template std::complex<double> exact_dot(const std::complex<double>*, std::int64_t, const std::complex<double>*,
                                        std::int64_t, std::int64_t, bool);

void amax(const Executor&, const ExtremeArgs& v) {
  with_type(v.dtype, [&]<class T>(T) {
    *v.result = extreme(static_cast<const T*>(v.x), v.n, v.incx, [](auto a, auto b) { return a > b; });
  });
}

void amin(const Executor&, const ExtremeArgs& v) {
  with_type(v.dtype, [&]<class T>(T) {
    *v.result = extreme(static_cast<const T*>(v.x), v.n, v.incx, [](auto a, auto b) { return a < b; });
  });
}

void asum(const Executor&, const NormArgs& v) {
  with_type(v.dtype, [&]<class T>(T) {
    const T* x = static_cast<const T*>(v.x);
    if (v.mode == Mode::Exact) {
      ExactSum sum;
      for (std::int64_t i = 0; i < v.n; ++i) {
        if constexpr (RealScalar<T>) {
          sum.add(std::abs(x[i * v.incx]));
        } else {
          sum.add(std::abs(x[i * v.incx].real())), sum.add(std::abs(x[i * v.incx].imag()));
        }
      }
      *v.result = std::same_as<Real<T>, float> ? sum.to_float() : sum.to_double();
      return;
    }
    Real<T> total = 0;
    const std::int64_t stride = v.incx < 0 ? -v.incx : v.incx;
    const T* low = lowest(x, v.n, v.incx);
    using R = Real<T>;
    const auto sum = [&](const R* parts, std::int64_t count, std::int64_t step) {
      in_pieces(count, [&](std::int64_t i, int n) {
        const Input<R> piece(parts + i * step, n, step);
        total += cb::asum(n, piece.data(), piece.increment());
      });
    };
    const R* parts = reinterpret_cast<const R*>(low);
    if constexpr (RealScalar<T>) {
      sum(parts, v.n, stride);
    } else if (stride == 1) {
      sum(parts, 2 * v.n, 1);
    } else {
      sum(parts, v.n, 2 * stride), sum(parts + 1, v.n, 2 * stride);
    }
    *v.result = total;
  });
}

void nrm2(const Executor&, const NormArgs& v) {
  with_type(v.dtype, [&]<class T>(T) {
    const T* x = static_cast<const T*>(v.x);
    if (v.mode != Mode::Exact) {
      *v.result = norm(x, v.n, v.incx);
      return;
    }
    ExactSum sum;
    for (std::int64_t i = 0; i < v.n; ++i) {
      const T a = x[i * v.incx];
      if constexpr (RealScalar<T>) {
        sum.add_product(a, a);
      } else {
        sum.add_product(a.real(), a.real()), sum.add_product(a.imag(), a.imag());
      }
    }
    const auto s = sum.scaled();
    *v.result = static_cast<Real<T>>(std::ldexp(std::sqrt(s.mantissa), s.exponent / 2));
  });
}

void dot(const Executor&, const DotArgs& v) {
  with_type(v.dtype, [&]<class T>(T) {
    const T* x = static_cast<const T*>(v.x);
    const T* y = static_cast<const T*>(v.y);
    if (v.mode == Mode::Exact) {
      *v.result = exact_dot(x, v.incx, y, v.incy, v.n, v.conj);
      return;
    }
    T total = 0;
    in_pieces(v.n, [&](std::int64_t i, int n) {
      const Input<T> a(x + i * v.incx, n, v.incx), b(y + i * v.incy, n, v.incy);
      total += cb::dot(n, a.data(), a.increment(), b.data(), b.increment(), v.conj);
    });
    *v.result = total;
  });
}

}  // namespace trn::blas::host
