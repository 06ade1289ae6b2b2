// fft.dct and fft.dst on the device.
//
// With v_j, w_k the weights of either end (2, but 1 at the ends that the definitions name; sqrt 2 of orthogonalize; the
// norm's factor):
//
//   y_k = w_k sum_j v_j x_j cos(2 pi a(j, k)),   the sine likewise
//
// Up to 128 points that is one matrix on the Tensor Engine (matrix_program), with angles reduced in integers; short
// lines that lie one behind the other share it, block diagonal. Longer lines become a Fourier transform of N points
// with zeros behind the data, N = 2 (n-1) and 2 (n+1) for type I, otherwise 2 n. Nothing is mirrored or put in another
// order, which would move 4 bytes a descriptor; the price is N instead of n points. With W_m = exp(-2 pi i / m), K = k,
// J = j, of the sine K = k + 1, J = j + 1 where the definition has them:
//
//   I, II  y_k = w_k Re(c t_K sum_j v_j x_j W_N^(jK))          real to complex; t_K = W_4n^K (II), of the sine I W_N^K
//   III    y_k = sum of X_J W_N^(Jk), X_J = w v_j/2 c x_j W_4n^J    complex to real, the sum over a Hermitian line;
//     ends without 1/2
//   IV     y_k = w_k Re(c W_8n^(2k+1) sum_j v_j x_j W_4n^j W_N^(jk))    complex
//
// c = 1 for cosines and i for sines. The products are pointwise_program on the Vector Engine.
//
// Errors. A matrix: matrix_error_bound. By transforms, B being the bound of the transform of N points and || Y || the
// norm of its result: I || Y || <= 1.6 || y ||, II and IV || y || and y is twice a part of Y, III || Y || = sqrt 2 || y
// ||: at most (2 B + 12 u) || y ||.
#include "../cosine.hpp"

#include <cmath>
#include <numbers>
#include <trn/fft/matrix_program.hpp>
#include <trn/fft/points_program.hpp>

#include <trn/tile/launch.hpp>
#include "../function_precision.hpp"
#include "../roots.hpp"
#include "planner.hpp"

namespace trn::fft::device {

using namespace trn::tile;

namespace {

using Complex = std::complex<long double>;
using C = std::complex<float>;
using fft::detail::Wave;

// Of the Fourier transform for lines of n points.
std::int64_t transform_points(Wave wave, CosineType type, std::int64_t n) {
  return type != CosineType::I ? 2 * n : wave == Wave::Sine ? 2 * (n + 1) : 2 * (n - 1);
}

class Cosine {
 public:
  Cosine(const Executor& e, const CosineArgs& a)
      : e_(e), device_(device_of(e)), a_(a), sine_(a.wave == Wave::Sine), n_(a.n), count_(element_count(a.batch)) {}

  void run() const {
    if (n_ <= device_.machine().partitions) return matrix();
    switch (a_.type) {
      case CosineType::I:
      case CosineType::II:
        return from_real();
      case CosineType::III:
        return to_real();
      case CosineType::IV:
        return complex();
    }
  }

 private:
  // cos or sin of 2 pi a(j, k).
  [[nodiscard]] long double wave(std::int64_t j, std::int64_t k) const {
    const std::int64_t J = sine_ ? j + 1 : j, K = sine_ ? k + 1 : k;
    const auto pick = [&](std::int64_t number, std::int64_t all) {
      const Complex w = long_root(number, all);
      return sine_ ? -w.imag() : w.real();
    };
    switch (a_.type) {
      case CosineType::I:
        return pick(J * K, points());
      case CosineType::II:
        return pick(K * (2 * j + 1), 4 * n_);
      case CosineType::III:
        return pick(J * (2 * k + 1), 4 * n_);
      case CosineType::IV:
        break;
    }
    return pick((2 * j + 1) * (2 * k + 1), 8 * n_);
  }
  [[nodiscard]] std::int64_t points() const { return transform_points(a_.wave, a_.type, n_); }
  // v_j and w_k.
  [[nodiscard]] long double before(std::int64_t j) const {
    const bool end = (a_.type == CosineType::I && !sine_ && (j == 0 || j == n_ - 1)) ||
                     (a_.type == CosineType::III && j == (sine_ ? n_ - 1 : 0));
    return (end ? 1 : 2) * (end && a_.orthogonalize ? std::numbers::sqrt2_v<long double> : 1);
  }
  [[nodiscard]] long double after(std::int64_t k) const {
    const bool end = (a_.type == CosineType::I && !sine_ && (k == 0 || k == n_ - 1)) ||
                     (a_.type == CosineType::II && k == (sine_ ? n_ - 1 : 0));
    return static_cast<long double>(a_.factor) * (end && a_.orthogonalize ? std::numbers::sqrt2_v<long double> / 2 : 1);
  }
  [[nodiscard]] Complex turn() const { return sine_ ? Complex(0, 1) : Complex(1, 0); }

  // Batch dimensions between the caller's array on one side and dense lines of `reals` on the other.
  enum class Caller : std::uint8_t { Input, Output };
  [[nodiscard]] std::vector<LineDim> lines(Caller caller, std::int64_t reals) const {
    std::vector<LineDim> all;
    for (std::size_t d = 0; d < a_.batch.size(); ++d)
      all.push_back({a_.batch[d], a_.in_batch[d], caller == Caller::Input ? 0 : a_.out_batch[d]});
    for (std::size_t d = all.size(); d-- > 0; reals *= all[d].count)
      (caller == Caller::Input ? all[d].out : all[d].in) = reals;
    return merged_lines(all);
  }

  void pointwise(const PointLayout& in, const PointLayout& out, const std::vector<LineDim>& all, const void* x, void* y,
                 const std::vector<Complex>& table) const {
    std::vector<float> values;
    for (const Complex& t : table)
      values.push_back(static_cast<float>(t.real())), values.push_back(static_cast<float>(t.imag()));
    launch(e_, pointwise_program, PointwiseShape{in, out, all, !table.empty()},
           {{in.real ? "x_re" : "x", x}, {out.real ? "y_re" : "y", y}, constant("table", values)});
  }
  template <class F> [[nodiscard]] std::vector<Complex> table(std::int64_t size, F f) const {
    std::vector<Complex> all;
    for (std::int64_t i = 0; i < size; ++i) all.push_back(f(i));
    return all;
  }
  [[nodiscard]] PointLayout caller_in() const { return {Format::Interleaved, true, a_.given, a_.in_stride}; }
  [[nodiscard]] PointLayout caller_out() const { return {Format::Interleaved, true, n_, a_.out_stride}; }
  static PointLayout pairs(std::int64_t points) { return {Format::Interleaved, false, points, 2}; }
  static PointLayout reals(std::int64_t points) { return {Format::Interleaved, true, points, 1}; }
  [[nodiscard]] Plan<float> plan(Kind kind) const {
    Description d = dense(kind, Direction::Forward, {points()}, {.batch = count_});
    d.precision = a_.mode;
    return plan_for<float>(e_, d, a_.cache);
  }

  // How many of the lines, if they lie one behind the other, make one line of a block diagonal matrix.
  [[nodiscard]] std::int64_t lines_together(const std::vector<LineDim>& all) const {
    const bool dense = a_.given == n_ && a_.in_stride == 1 && a_.out_stride == 1 && all.size() == 1 &&
                       all[0].in == n_ && all[0].out == n_;
    std::int64_t together = dense ? device_.machine().partitions / n_ : 1;
    while (all[0].count % together != 0) --together;
    return together;
  }

  void matrix() const {
    std::vector<LineDim> all;
    for (std::size_t d = 0; d < a_.batch.size(); ++d) all.push_back({a_.batch[d], a_.in_batch[d], a_.out_batch[d]});
    all = merged_lines(all);
    const std::int64_t together = lines_together(all);
    if (together > 1) all[0] = {all[0].count / together, n_ * together, n_ * together};
    std::vector<float> m(static_cast<std::size_t>(a_.given * together * n_ * together), 0.0F);
    for (std::int64_t j = 0; j < a_.given; ++j) {
      for (std::int64_t k = 0; k < n_; ++k) {
        const auto entry = static_cast<float>(before(j) * after(k) * wave(j, k));
        for (std::int64_t g = 0; g < together; ++g)
          m[static_cast<std::size_t>((g * a_.given + j) * n_ * together + g * n_ + k)] = entry;
      }
    }
    const MatrixShape shape{{a_.given * together, 1, a_.in_stride}, {n_ * together, 1, a_.out_stride}, all, a_.mode};
    launch(e_, matrix_program, shape, {{"x", a_.in}, constant("matrix", m), {"y", a_.out}});
  }

  void from_real() const {
    const std::int64_t all = points(), half = all / 2 + 1, first = sine_ ? 1 : 0;
    const bool two = a_.type == CosineType::II;
    const Array<float> line(e_, {count_, all});
    const Array<C> spectrum(e_, {count_, half});
    const bool weighted = !two && !sine_;  // otherwise every weight is 2
    pointwise(caller_in(), reals(all), lines(Caller::Input, all), a_.in, line.data(),
              table(weighted ? a_.given : 0, [&](std::int64_t j) { return Complex(before(j)); }));
    plan(Kind::RealToComplex).execute(View<const float>(line.view()), spectrum.view());
    pointwise(pairs(n_), caller_out(), lines(Caller::Output, 2 * half), spectrum.data() + first, a_.out,
              table(n_, [&](std::int64_t k) {
                const std::int64_t point = k + first;
                const Complex t = two ? long_root(point, 4 * n_) : sine_ ? long_root(point, all) : Complex(1);
                return after(k) * (weighted ? 1.0L : 2.0L) * turn() * t;
              }));
  }

  void to_real() const {
    const std::int64_t all = points(), half = all / 2 + 1, first = sine_ ? 1 : 0;
    const Array<C> spectrum(e_, {count_, half});
    const Array<float> line(e_, {count_, all});
    if (sine_) fill_zero(View<C>(e_, spectrum.data(), {count_}, {half}));
    pointwise(caller_in(), pairs(half - first), lines(Caller::Input, 2 * half), a_.in, spectrum.data() + first,
              table(a_.given, [&](std::int64_t j) {
                const bool end = j == (sine_ ? n_ - 1 : 0);
                return after(0) * before(j) / (end ? 1 : 2) * turn() * long_root(j + first, 4 * n_);
              }));
    plan(Kind::ComplexToReal).execute(View<const C>(spectrum.view()), line.view());
    pointwise(reals(n_), caller_out(), lines(Caller::Output, all), line.data(), a_.out, {});
  }

  void complex() const {
    const std::int64_t all = points();
    const Array<C> line(e_, {count_, all});
    pointwise(caller_in(), pairs(all), lines(Caller::Input, 2 * all), a_.in, line.data(),
              table(a_.given, [&](std::int64_t j) { return long_root(j, 4 * n_); }));
    plan(Kind::ComplexToComplex).execute(View<const C>(line.view()), line.view());
    pointwise(pairs(n_), caller_out(), lines(Caller::Output, 2 * all), line.data(), a_.out,
              table(n_, [&](std::int64_t k) { return 2.0L * after(k) * turn() * long_root(2 * k + 1, 8 * n_); }));
  }

  const Executor& e_;
  Device& device_;
  const CosineArgs& a_;
  bool sine_;
  std::int64_t n_, count_;
};

}  // namespace

void cosine(const Executor& executor, const CosineArgs& args) { Cosine(executor, args).run(); }

double cosine_bound(const Executor& executor, const CosineBoundArgs& args) {
  const auto& [real, wave, type, n, count, mode] = args;
  if (n <= device_of(executor).machine().partitions) return matrix_error_bound(n, mode);
  const Kind kind = type == CosineType::IV    ? Kind::ComplexToComplex
                    : type == CosineType::III ? Kind::ComplexToReal
                                              : Kind::RealToComplex;
  const Description d = dense(kind, Direction::Forward, {transform_points(wave, type, n)}, {.batch = count});
  return 2 * fft::plan_bound(executor, d, real, mode) + 12 * 0x1p-24;
}

}  // namespace trn::fft::device
