// The stated bound against a __float128 transform: true for every length tried, and no more than a few digits above
// what happens.
#include "fft_support.hpp"

namespace trn::fft::test {
namespace {

// Error of a forward transform of n random points over the norm of the exact result, and the bound.
struct Outcome {
  double error, bound;
};

template <class T> Outcome outcome(Kind kind, std::int64_t n, std::uint32_t seed) {
  const Executor e = Executor::host();
  const Plan<T> plan(e, dense(kind, kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward, {n}));
  const std::int64_t half = n / 2 + 1;
  std::vector<std::complex<T>> z = random_complex<T>(n, seed), y(static_cast<std::size_t>(n));
  std::vector<T> r = random_real<T>(n, seed + 1), x(static_cast<std::size_t>(n));
  std::vector<Wide<Quad>> exact(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    const auto i = static_cast<std::size_t>(j);
    const auto& h = z[static_cast<std::size_t>(std::min(j, n - j))];
    if (kind == Kind::ComplexToComplex) exact[i] = {z[i].real(), z[i].imag()};
    if (kind == Kind::RealToComplex) exact[i] = {r[i], 0};
    if (kind == Kind::ComplexToReal)
      exact[i] = {h.real(), j == 0 || 2 * j == n ? T(0) : 2 * j < n ? h.imag() : -h.imag()};
  }
  oracle_axis(exact, {n}, 0, kind == Kind::ComplexToReal ? 1 : -1);
  using C = std::complex<T>;
  if (kind == Kind::ComplexToComplex) plan.execute(View<const C>(e, z.data(), {n}), View<C>(e, y.data(), {n}));
  if (kind == Kind::RealToComplex) plan.execute(View<const T>(e, r.data(), {n}), View<C>(e, y.data(), {half}));
  if (kind == Kind::ComplexToReal) plan.execute(View<const C>(e, z.data(), {half}), View<T>(e, x.data(), {n}));
  Quad error = 0, norm = 0;
  for (std::int64_t k = 0; k < (kind == Kind::RealToComplex ? half : n); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const Quad re = (kind == Kind::ComplexToReal ? Quad(x[i]) : Quad(y[i].real())) - exact[i].re;
    const Quad im = kind == Kind::ComplexToReal ? Quad(0) : Quad(y[i].imag()) - exact[i].im;
    error += re * re + im * im;
    norm += exact[i].re * exact[i].re + exact[i].im * exact[i].im;
  }
  return {std::sqrt(static_cast<double>(error)) / std::sqrt(static_cast<double>(norm)), plan.accuracy().bound};
}

TEST(Bound, HoldsAgainstFloat128) {
  std::vector<std::int64_t> lengths{97, 100, 101, 120, 121, 125, 127, 128, 169, 210, 243, 251, 256, 343, 500, 509, 512};
  for (std::int64_t n = 1; n <= 40; ++n) lengths.push_back(n);
  for (const std::int64_t n : lengths) {
    for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal}) {
      SCOPED_TRACE(::testing::Message() << name(kind) << " of " << n);
      const Outcome d = outcome<double>(kind, n, static_cast<std::uint32_t>(n)),
                    f = outcome<float>(kind, n, static_cast<std::uint32_t>(n));
      EXPECT_LE(d.error, d.bound);
      EXPECT_LE(f.error, f.bound);
      // Accuracy itself: errors of a fast transform grow like sqrt(log n); 4 u sqrt(log2 2n) would show a wrong root or
      // a lost digit at once.
      const double expected = 4 * std::sqrt(std::log2(2.0 * static_cast<double>(n)));
      EXPECT_LE(d.error, expected * 0x1p-53);
      EXPECT_LE(f.error, expected * 0x1p-24);
    }
  }
}

}  // namespace
}  // namespace trn::fft::test
