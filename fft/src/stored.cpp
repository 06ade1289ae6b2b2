// Transforms between sides stored in 16 bits: widened, transformed, rounded.
#include <trn/fft/stored.hpp>

#include <trn/blas/narrow.hpp>
#include <trn/core/operands.hpp>

namespace trn::fft {

namespace {

constexpr const char* kOperation = "fft.execute_stored";

// One side of a plan as float32 numbers.
struct FloatSide {
  std::int64_t points = 1;
  bool complex = false;
  [[nodiscard]] std::int64_t numbers() const { return complex ? 2 * points : points; }
};

FloatSide side_of(const Description& d, bool input) {
  FloatSide side;
  side.complex = d.kind != (input ? Kind::RealToComplex : Kind::ComplexToReal);
  for (const Dimension& x : d.axes) side.points *= x.extent;
  if (side.complex && d.kind != Kind::ComplexToComplex)
    side.points = side.points / d.axes.back().extent * (d.axes.back().extent / 2 + 1);
  for (const Dimension& x : d.batch) side.points *= x.extent;
  return side;
}

// The plan takes views of one dimension, and refuses them where its layout has gaps: it would touch what is not there.
template <class In, class Out>
void run(const Plan<float>& plan, float* in, std::int64_t ins, float* out, std::int64_t outs) {
  const Executor& e = plan.executor();
  plan.execute(View<const In>(e, reinterpret_cast<const In*>(in), {ins}),
               View<Out>(e, reinterpret_cast<Out*>(out), {outs}));
}

}  // namespace

template <StoredFloat T> Accuracy execute_stored(const Plan<float>& plan,
                                                 const std::type_identity_t<VectorView<const T>>& in,
                                                 const VectorView<T>& out, const Rounding& rounding) {
  const Executor& e = plan.executor();
  const Description& d = plan.description();
  const FloatSide from = side_of(d, true), to = side_of(d, false);
  operands::check_owner(kOperation, "the input", e, in.executor());
  operands::check_owner(kOperation, "the output", e, out.executor());
  require(in.size() == from.numbers() && out.size() == to.numbers(),
          "{}: the input has {} numbers and the output {}; this plan needs {} and {}, two for a complex point",
          kOperation, in.size(), out.size(), from.numbers(), to.numbers());
  Accuracy accuracy = plan.accuracy();
  if (from.points == 0) return accuracy;
  const Array<float> x(e, {from.numbers()}), y(e, {to.numbers()});
  blas::copy(e, in, VectorView<float>(e, x.data(), x.size()));
  using C = std::complex<float>;
  if (d.kind == Kind::ComplexToComplex)
    run<C, C>(plan, x.data(), from.points, y.data(), to.points);
  else if (d.kind == Kind::RealToComplex)
    run<float, C>(plan, x.data(), from.points, y.data(), to.points);
  else
    run<C, float>(plan, x.data(), from.points, y.data(), to.points);
  blas::copy(e, VectorView<const float>(e, y.data(), y.size()), out, rounding);
  const double unit = (rounding.is_stochastic() ? 2 : 1) * unit_roundoff(dtype_of<T>);
  accuracy.bound += unit * (1 + accuracy.bound);
  return accuracy;
}

#define TRN_FFT_STORED(T)                                                                                   \
  template Accuracy execute_stored<T>(const Plan<float>&, const VectorView<const T>&, const VectorView<T>&, \
                                      const Rounding&);
TRN_FFT_STORED(bfloat16)
TRN_FFT_STORED(float16)
#undef TRN_FFT_STORED

}  // namespace trn::fft
