// By how much the constants of a complex line, rounded, stretch its results.
//
// Let F be the transform and F^ the one with rounded constants. F^ = (1 + s) F + R with <F, R> = 0: R is noise, but s
// is the same for every input, and while the noise of many passes adds as squares, their s add. The worst constants
// recur in every pass: sqrt(1/2) in double is 0.62 u too long, sine of pi/3 0.4 u too short, so that the two transforms
// of a convolution over 2^21 points stretch by 2.2e-16 = 2 u, a fifth of the square of all their errors. A
// convolution's kernel can be divided by that beforehand.
//
// s is linear in the small errors. A root of unity w rounded to w^ has s = Re conj(w) (w^ - w); a diagonal of such
// numbers, or a transform whose matrix has them as entries, has their mean; factors of a product add.
#include <complex>

#include "../roots.hpp"
#include "line_plan.hpp"
#include "schedule.hpp"

namespace trn::fft::host {
namespace {

// The mean over the roots w_n^(jk), j < rows, k < columns.
template <class T> double of_roots(std::int64_t rows, std::int64_t columns, std::int64_t n) {
  long double sum = 0;
  for (std::int64_t j = 1; j < rows; ++j)
    for (std::int64_t k = 1; k < columns; ++k) {
      const std::complex<long double> w = long_root(j * k, n);
      sum += w.real() * (static_cast<T>(w.real()) - w.real()) + w.imag() * (static_cast<T>(w.imag()) - w.imag());
    }
  return static_cast<double>(sum) / static_cast<double>(rows * columns);
}

// As the codelets are put together; the others by their matrices.
template <class T> double of_codelet(int radix) {
  const Codelet c = codelet_of(radix);
  if (c.coprime) return of_codelet<T>(c.coprime) + of_codelet<T>(radix / c.coprime);
  if (c.twiddled) return 2 * of_codelet<T>(c.twiddled) + of_roots<T>(c.twiddled, c.twiddled, radix);
  return of_roots<T>(radix, radix, radix);
}

// A codelet and the twiddles behind it.
template <class T> double of_pass(int radix, std::int64_t m) {
  return of_codelet<T>(radix) + of_roots<T>(m, radix, radix * m);
}
template <class T> double of_passes(const Passes<T>& passes) {
  double sum = 0;
  for (const auto& pass : passes.passes) sum += of_pass<T>(pass.radix, pass.m);
  return sum;
}

}  // namespace

template <class T> double stretch(const LinePlan<T>& plan) {
  switch (plan.kind) {
    case LineKind::Whole: {
      const WholeKernel<T> kernel = step_functions<T>().whole(plan.n);
      return of_codelet<T>(kernel.n1) + of_codelet<T>(kernel.n2) + of_roots<T>(kernel.n1, kernel.n2, plan.n);
    }
    case LineKind::Steps: {
      double sum = 0;
      for (const Step<T>& step : plan.steps) sum += of_pass<T>(static_cast<int>(plan.n / step.l / step.m), step.m);
      return sum;
    }
    case LineKind::Woven:
      return of_codelet<T>(static_cast<int>(plan.n1)) + stretch(*plan.inner);  // its twiddles are many
    case LineKind::Scalar:
      return of_passes(plan.first);
    case LineKind::FourStep:
      return of_passes(plan.first) + of_passes(plan.second);  // its twiddles are many: their mean is nothing
    case LineKind::Split:
      return of_passes(plan.first) + stretch(*plan.inner);
    case LineKind::Rader:
    case LineKind::Bluestein:
      return 0;  // divided out
    case LineKind::Wide:
      return 0;
  }
  return 0;
}

template double stretch<float>(const LinePlan<float>&);
template double stretch<double>(const LinePlan<double>&);

}  // namespace trn::fft::host
