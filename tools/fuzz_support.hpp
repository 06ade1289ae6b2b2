// What the fuzzer shares: a source of random cases, operands in random layouts inside guarded storage, and the
// comparison of results with sums in 80-bit arithmetic. Each case is a function of its seed alone.
//
// Storage that an operation must not read holds NaN, storage that it must not write is compared bit for bit afterwards.
// In every fourth case on the host the operands hold a few NaN and infinities (on a device they may spread over blocks,
// as the headers say). Sums then follow IEEE 754: whatever the order of additions, NaN, or infinities of both signs,
// give NaN, and infinities of one sign that infinity. Products with numbers outside a triangle or a band do not exist.
// Complex elements are compared by being finite or not: which part turns NaN depends on when a factor is multiplied in.
#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <trn/blas/storage.hpp>
#include <trn/core/array.hpp>

namespace trn::tools::fuzz {

struct Wide {
  long double re = 0, im = 0;
};
inline Wide operator+(Wide x, Wide y) { return {x.re + y.re, x.im + y.im}; }
inline Wide operator-(Wide x, Wide y) { return {x.re - y.re, x.im - y.im}; }
inline Wide operator*(Wide x, Wide y) {
  if (x.im == 0 && y.im == 0) return {x.re * y.re, 0};  // real types stay real, also beside infinities
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
inline long double size(Wide x) { return std::hypot(x.re, x.im); }
inline Wide conj(Wide x, bool really) { return {x.re, really ? -x.im : x.im}; }
template <class T> Wide wide(T x) {
  if constexpr (blas::ComplexScalar<T>) {
    return {x.real(), x.imag()};
  } else {
    return {static_cast<long double>(x), 0};
  }
}
inline bool finite(Wide x) { return std::isfinite(x.re) && std::isfinite(x.im); }
inline bool zero(Wide x) { return x.re == 0 && x.im == 0; }

struct Sum {
  Wide value;
  long double scale = 0;
  void add(Wide x, Wide y) {
    value = value + x * y;
    scale += size(x) * size(y);
  }
  [[nodiscard]] Sum times(Wide alpha) const { return {alpha * value, size(alpha) * scale}; }
};
inline Sum operator+(const Sum& x, const Sum& y) { return {x.value + y.value, x.scale + y.scale}; }

// Limits of one case.
struct Limits {
  std::int64_t extent = 4096, work = 1 << 21;  // largest extent; multiply-adds
};

class Case {
 public:
  Case(Executor e, std::uint64_t seed, const Limits& limits) : executor(std::move(e)), random(seed), limits_(limits) {
    special = chance(4) && executor.family() == Family::Host;
  }

  Executor executor;
  std::mt19937_64 random;
  bool special;      // operands hold NaN and infinities
  std::string what;  // arguments, for the report

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class X> X pick(std::initializer_list<X> list) {
    return list.begin()[below(static_cast<std::int64_t>(list.size()))];
  }

  // An extent from 0 to the limit, all magnitudes alike, charged to the case's work.
  std::int64_t extent() {
    const double top =
        std::log2(static_cast<double>(std::min(limits_.extent, std::max<std::int64_t>(1, limits_.work / used_)) + 1));
    const auto n = static_cast<std::int64_t>(std::exp2(std::uniform_real_distribution<double>(0, top)(random))) - 1;
    used_ *= std::max<std::int64_t>(1, n);
    return n;
  }
  void charge(std::int64_t n) { used_ *= std::max<std::int64_t>(1, n); }

  // Uniform in (-2, 2), never 0; one word for both parts of a complex number.
  template <class T> T number() {
    using R = blas::Real<T>;
    const std::uint64_t word = random();
    using Through = std::conditional_t<std::is_same_v<R, double>, double, float>;  // the types of 16 bits round a float
    const auto part = [](std::uint64_t bits) {
      return static_cast<R>(static_cast<Through>((static_cast<double>(bits) + 0.5) * 0x1p-30 - 2));
    };
    if constexpr (blas::ComplexScalar<T>) {
      return T(part(word >> 32), part(word & 0xffffffff));
    } else {
      return part(word >> 32);
    }
  }
  template <class T> T factor() {
    const auto which = below(6);
    return which == 0 ? T(0) : which == 1 ? T(1) : which == 2 ? T(-1) : number<T>();
  }
  // NaN or an infinity; of a complex number one part or both.
  template <class T> T wild() {
    using R = blas::Real<T>;
    const auto part = [&] {
      return static_cast<R>(pick({std::numeric_limits<float>::quiet_NaN(), INFINITY, -INFINITY}));
    };
    if constexpr (blas::ComplexScalar<T>) {
      const auto which = below(3);
      return T(which != 1 ? part() : number<R>(), which != 0 ? part() : number<R>());
    } else {
      return part();
    }
  }
  blas::Uplo uplo() { return chance(2) ? blas::Uplo::Lower : blas::Uplo::Upper; }
  blas::Op op() { return pick({blas::Op::N, blas::Op::T, blas::Op::C}); }
  blas::Side side() { return chance(2) ? blas::Side::Left : blas::Side::Right; }
  blas::Diag diag() { return chance(2) ? blas::Diag::Unit : blas::Diag::NonUnit; }

 private:
  Limits limits_;
  std::int64_t used_ = 1;
};

template <class T> T nan() {
  using R = blas::Real<T>;
  if constexpr (blas::ComplexScalar<T>) {
    return T(std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::quiet_NaN());
  } else {
    return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  }
}

using Mask = std::function<bool(std::int64_t, std::int64_t)>;
inline bool everywhere(std::int64_t, std::int64_t) { return true; }
inline Mask triangle(blas::Uplo uplo) {
  return [uplo](std::int64_t i, std::int64_t j) { return uplo == blas::Uplo::Lower ? i >= j : i <= j; };
}

// A rows x columns matrix in random strides: numbers where `in` says so, NaN elsewhere.
template <class T> struct Field {
  std::int64_t rows, columns, row_stride, column_stride, offset;
  std::vector<T> host;
  Array<T> device;

  Field(Case& c, std::int64_t r, std::int64_t k, const Mask& in = everywhere)
      : rows(r), columns(k), device(c.executor, {1}) {
    const std::int64_t pad = c.chance(2) ? 0 : c.below(7), step = c.chance(6) ? 2 + c.below(2) : 1;
    const bool row_major = c.chance(2);
    const std::int64_t inner = row_major ? columns : rows, outer = row_major ? rows : columns;
    const std::int64_t ld = std::max<std::int64_t>(1, inner) * step + pad;
    const bool back_inner = c.chance(8), back_outer = c.chance(8);
    host.assign(static_cast<std::size_t>(ld * std::max<std::int64_t>(1, outer) + 8), nan<T>());
    offset = 4 + (back_inner && inner > 0 ? (inner - 1) * step : 0) + (back_outer && outer > 0 ? (outer - 1) * ld : 0);
    const std::int64_t si = back_inner ? -step : step, so = back_outer ? -ld : ld;
    row_stride = row_major ? so : si;
    column_stride = row_major ? si : so;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        if (in(i, j)) at(i, j) = c.number<T>();
      }
    }
    spoil(c, in);
  }
  // In a special case: up to two elements become NaN or infinite.
  void spoil(Case& c, const Mask& in) {
    for (std::int64_t count = c.special && rows * columns > 0 ? c.below(3) : 0; count > 0; --count) {
      const std::int64_t i = c.below(rows), j = c.below(columns);
      if (in(i, j)) at(i, j) = c.wild<T>();
    }
    upload();
  }
  [[nodiscard]] std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(offset + i * row_stride + j * column_stride);
  }
  [[nodiscard]] T& at(std::int64_t i, std::int64_t j) { return host[index(i, j)]; }
  [[nodiscard]] const T& at(std::int64_t i, std::int64_t j) const { return host[index(i, j)]; }
  [[nodiscard]] Wide op(blas::Op o, std::int64_t i, std::int64_t j) const {
    return o == blas::Op::N ? wide(at(i, j)) : conj(wide(at(j, i)), o == blas::Op::C);
  }
  void upload() { device = Array<T>::from_host(device.executor(), {static_cast<std::int64_t>(host.size())}, host); }
  [[nodiscard]] MatrixView<T> view() const {
    return {device.executor(), device.data() + offset, rows, columns, row_stride, column_stride};
  }
  [[nodiscard]] VectorView<T> vector() const {
    return {device.executor(), device.data() + offset, rows, row_stride};
  }  // of a column
  // Now as the executor left it.
  [[nodiscard]] Field after() const {
    Field now = *this;
    now.host = device.to_host();
    return now;
  }
  Field(const Field& other)
      : rows(other.rows),
        columns(other.columns),
        row_stride(other.row_stride),
        column_stride(other.column_stride),
        offset(other.offset),
        host(other.host),
        device(other.device.executor(), {1}) {}
};

// The bound of a sum of k products in T, any order, with a factor or two: as in gemm.hpp.
template <class T> double native_bound(std::int64_t k) {
  const double u = unit_roundoff(dtype_of<T>), terms = static_cast<double>(k);
  return blas::ComplexScalar<T> ? 2 * std::sqrt(2.0) * (terms + 6) * u : (terms + 4) * u;
}

[[noreturn]] void report(const Case& c, const std::string& text);

// Compares an element; what underflowed in T is allowed for.
template <class T>
void expect(const Case& c, const char* name, std::int64_t i, std::int64_t j, T got, const Sum& want, double bound) {
  if (!finite(want.value)) {
    const bool same = std::isnan(want.value.re) ? std::isnan(wide(got).re) : wide(got).re == want.value.re;
    if (blas::ComplexScalar<T> ? !finite(wide(got)) : same) return;
    report(c, std::string(name) + "(" + std::to_string(i) + ", " + std::to_string(j) +
                  "): " + std::to_string(wide(got).re) + " instead of " + std::to_string(want.value.re));
  }
  const long double tiny = std::is_same_v<T, float16>              ? 0x1p-25L
                           : std::is_same_v<blas::Real<T>, double> ? 0x1p-1022L
                                                                   : 0x1p-126L;
  const long double error = size(wide(got) - want.value);
  if (error <= bound * (1 + 0x1p-9L) * want.scale + tiny) return;
  report(c, std::string(name) + "(" + std::to_string(i) + ", " + std::to_string(j) + "): error " +
                std::to_string(static_cast<double>(error / want.scale) / bound) + " of its bound");
}

// All elements of a small result, sixty-four of a large one; and everything that is not the result, bit for bit.
template <class T, class Expected> void compare(Case& c, const char* name, const Field<T>& before, const Mask& in,
                                                double bound, std::int64_t cost, const Expected& expected) {
  const Field<T> after = before.after();
  if (before.rows * before.columns * std::max<std::int64_t>(1, cost) <= 1 << 15) {
    for (std::int64_t i = 0; i < before.rows; ++i) {
      for (std::int64_t j = 0; j < before.columns; ++j) {
        if (in(i, j)) expect(c, name, i, j, after.at(i, j), expected(i, j), bound);
      }
    }
  } else {
    for (int sample = 0; sample < 64; ++sample) {
      const std::int64_t i = sample == 0 ? before.rows - 1 : c.below(before.rows),
                         j = sample == 0 ? before.columns - 1 : c.below(before.columns);
      if (in(i, j)) expect(c, name, i, j, after.at(i, j), expected(i, j), bound);
    }
  }
  std::vector<T> masked = before.host;
  for (std::int64_t i = 0; i < before.rows; ++i) {
    for (std::int64_t j = 0; j < before.columns; ++j) {
      if (in(i, j)) masked[before.index(i, j)] = after.at(i, j);
    }
  }
  if (std::memcmp(masked.data(), after.host.data(), masked.size() * sizeof(T)) != 0)
    report(c, std::string(name) + ": memory outside the result was changed");
}
// A square field that is read as triangular op(A): element (i, j).
template <class T>
Wide triangular(const Field<T>& a, blas::Uplo uplo, blas::Op op, blas::Diag diag, std::int64_t i, std::int64_t j) {
  if (i == j && diag == blas::Diag::Unit) return {1, 0};
  return triangle(uplo)(op == blas::Op::N ? i : j, op == blas::Op::N ? j : i) ? a.op(op, i, j) : Wide{};
}
// Makes solutions with it stay of order one. Its NaN and infinities come later (no infinite pivot: dividing by it gives
// zeros).
template <class T> void tame(Field<T>& a, blas::Diag diag) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.rows; ++j)
      a.at(i, j) *= static_cast<blas::Real<T>>(1.0 / static_cast<double>(a.rows));
    a.at(i, i) = diag == blas::Diag::Unit ? nan<T>() : a.at(i, i) + T(2);
  }
  a.upload();
}

// A C of which nothing may be read when beta is 0.
template <class T>
Field<T> output(Case& c, std::int64_t rows, std::int64_t columns, T beta, const Mask& in = everywhere) {
  return Field<T>(c, rows, columns, [&](std::int64_t i, std::int64_t j) { return !zero(wide(beta)) && in(i, j); });
}
template <class T> Sum old(T beta, const Field<T>& before, std::int64_t i, std::int64_t j) {
  Sum sum;
  if (!zero(wide(beta))) sum.add(wide(beta), wide(before.at(i, j)));
  return sum;
}
// alpha = 0 reads neither A nor B.
template <class T> Sum scaled(T alpha, const Sum& sum) { return zero(wide(alpha)) ? Sum{} : sum.times(wide(alpha)); }

using Fuzz = void (*)(Case&);
struct FuzzRow {
  const char* name;
  Fuzz run[4];  // float, double, complex<float>, complex<double>
};
[[nodiscard]] std::vector<FuzzRow> level1();
[[nodiscard]] std::vector<FuzzRow> level2();
[[nodiscard]] std::vector<FuzzRow> level3();
[[nodiscard]] std::vector<FuzzRow> extensions();
[[nodiscard]] std::vector<FuzzRow> narrow();  // 16, 8 and 4 bits

#define TRN_FUZZ_FOUR(f) \
  { f<float>, f<double>, f<std::complex<float>>, f<std::complex<double>> }
#define TRN_FUZZ_REAL(f) \
  { f<float>, f<double>, nullptr, nullptr }
#define TRN_FUZZ_COMPLEX(f) \
  { nullptr, nullptr, f<std::complex<float>>, f<std::complex<double>> }

}  // namespace trn::tools::fuzz
