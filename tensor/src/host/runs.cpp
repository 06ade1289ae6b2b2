// Loads, stores and operators on runs. Compute types: float, double and their complex numbers.
#include "runs.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/core/scalars.hpp>

namespace trn::tensor::host {

namespace {

template <class C> constexpr bool kIsComplex = !std::is_floating_point_v<C>;

template <class From, class C>
void gather(const void* data, std::int64_t offset, std::int64_t stride, std::int64_t n, C* out) {
  const From* from = static_cast<const From*>(data) + offset;
  if (stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(from[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(from[i * stride]);
  }
}
template <class To, class C>
void scatter(void* data, std::int64_t offset, std::int64_t stride, std::int64_t n, const C* in) {
  To* to = static_cast<To*>(data) + offset;
  for (std::int64_t i = 0; i < n; ++i) to[i * stride] = static_cast<To>(in[i]);
}

// Max and Min let a NaN through whichever side it is on.
template <class C> C larger(C x, C y) { return x > y || std::isnan(x) ? x : y; }
template <class C> C smaller(C x, C y) { return x < y || std::isnan(x) ? x : y; }

template <class R> R softplus(R x) { return std::max(x, R(0)) + std::log1p(std::exp(-std::abs(x))); }
template <class R> R sigmoid(R x) {  // exp of a negative number only: no overflow on either side
  const R e = std::exp(-std::abs(x));
  return (x >= 0 ? R(1) : e) / (R(1) + e);
}

template <class C, class F> void each(C* x, std::int64_t n, const F& f) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
}

// Where a factor that decays exponentially meets infinity: the limit is -0.
template <class R> bool falls(R v) { return std::isinf(v) && v < 0; }

template <class R> void apply_real(Unary op, R* x, std::int64_t n) {
  switch (op) {
    case Unary::Relu:
      return each(x, n, [](R v) { return larger(v, R(0)); });
    case Unary::Sigmoid:
      return each(x, n, [](R v) { return sigmoid(v); });
    case Unary::Ceil:
      return each(x, n, [](R v) { return std::ceil(v); });
    case Unary::Floor:
      return each(x, n, [](R v) { return std::floor(v); });
    case Unary::Mish:
      return each(x, n, [](R v) { return falls(v) ? R(-0.0) : v * std::tanh(softplus(v)); });
    case Unary::Swish:
      return each(x, n, [](R v) { return falls(v) ? R(-0.0) : v * sigmoid(v); });
    case Unary::Softplus:
      return each(x, n, [](R v) { return std::isnan(v) ? v : softplus(v); });
    case Unary::Softsign:
      return each(x, n, [](R v) { return std::isinf(v) ? std::copysign(R(1), v) : v / (R(1) + std::abs(v)); });
    default:
      fail<InternalError>("tensor: operator {} has no real form", name(op));
  }
}

}  // namespace

template <class C>
void load_run(DType type, const void* data, std::int64_t offset, std::int64_t stride, std::int64_t n, C* out) {
  switch (type) {
    case DType::Float32:
      return gather<float>(data, offset, stride, n, out);
    case DType::Float64:
      if constexpr (sizeof(Real<C>) == 8) return gather<double>(data, offset, stride, n, out);
      break;
    case DType::Complex64:
      if constexpr (kIsComplex<C>) return gather<std::complex<float>>(data, offset, stride, n, out);
      break;
    case DType::Complex128:
      if constexpr (kIsComplex<C> && sizeof(Real<C>) == 8)
        return gather<std::complex<double>>(data, offset, stride, n, out);
      break;
    case DType::BFloat16:
    case DType::Float16: {
      std::uint16_t raw[kRun] = {};
      float wide[kRun];
      for (std::int64_t i = 0; i < n; ++i) raw[i] = static_cast<const std::uint16_t*>(data)[offset + i * stride];
      to_float(type, raw, wide, n);
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(wide[i]);
      return;
    }
    default:
      break;
  }
  fail<InternalError>("tensor: {} is not loaded into this type", name(type));
}

template <class C>
void store_run(DType type, void* data, std::int64_t offset, std::int64_t stride, std::int64_t n, const C* in) {
  if constexpr (kIsComplex<C>) {
    if (type == DType::Complex64) return scatter<std::complex<float>>(data, offset, stride, n, in);
    if (type == DType::Complex128) return scatter<std::complex<double>>(data, offset, stride, n, in);
  } else {
    if (type == DType::Float32) return scatter<float>(data, offset, stride, n, in);
    if (type == DType::Float64) return scatter<double>(data, offset, stride, n, in);
    if (type == DType::Complex64) return scatter<std::complex<float>>(data, offset, stride, n, in);
    if (type == DType::Complex128) return scatter<std::complex<double>>(data, offset, stride, n, in);
    if (type == DType::BFloat16 || type == DType::Float16) {
      std::uint16_t raw[kRun] = {};
      if constexpr (sizeof(C) == 4) {
        from_float(in, type, raw, n);
      } else {
        from_double(in, type, raw, n);
      }
      for (std::int64_t i = 0; i < n; ++i) static_cast<std::uint16_t*>(data)[offset + i * stride] = raw[i];
      return;
    }
  }
  fail<InternalError>("tensor: {} is not stored from this type", name(type));
}

template <class C> void apply(Unary op, C* x, std::int64_t n) {
  switch (op) {
    case Unary::Identity:
      return;
    case Unary::Conj:
      if constexpr (kIsComplex<C>) each(x, n, [](C v) { return std::conj(v); });
      return;
    case Unary::Sqrt:
      return each(x, n, [](C v) { return std::sqrt(v); });
    case Unary::Rcp:
      return each(x, n, [](C v) { return C(1) / v; });
    case Unary::Tanh:
      return each(x, n, [](C v) { return std::tanh(v); });
    case Unary::Exp:
      return each(x, n, [](C v) { return std::exp(v); });
    case Unary::Log:
      return each(x, n, [](C v) { return std::log(v); });
    case Unary::Abs:
      return each(x, n, [](C v) { return C(std::abs(v)); });
    case Unary::Neg:
      return each(x, n, [](C v) { return -v; });
    case Unary::Sin:
      return each(x, n, [](C v) { return std::sin(v); });
    case Unary::Cos:
      return each(x, n, [](C v) { return std::cos(v); });
    case Unary::Tan:
      return each(x, n, [](C v) { return std::tan(v); });
    case Unary::Sinh:
      return each(x, n, [](C v) { return std::sinh(v); });
    case Unary::Cosh:
      return each(x, n, [](C v) { return std::cosh(v); });
    case Unary::Asin:
      return each(x, n, [](C v) { return std::asin(v); });
    case Unary::Acos:
      return each(x, n, [](C v) { return std::acos(v); });
    case Unary::Atan:
      return each(x, n, [](C v) { return std::atan(v); });
    case Unary::Asinh:
      return each(x, n, [](C v) { return std::asinh(v); });
    case Unary::Acosh:
      return each(x, n, [](C v) { return std::acosh(v); });
    case Unary::Atanh:
      return each(x, n, [](C v) { return std::atanh(v); });
    default:
      if constexpr (!kIsComplex<C>) return apply_real(op, x, n);
  }
  fail<InternalError>("tensor: operator {} has no complex form", name(op));
}

template <class C> void apply(Binary op, C* x, const C* y, std::int64_t n) {
  if (op == Binary::Add) {
    for (std::int64_t i = 0; i < n; ++i) x[i] += y[i];
  } else if (op == Binary::Mul) {
    for (std::int64_t i = 0; i < n; ++i) x[i] *= y[i];
  } else if constexpr (!kIsComplex<C>) {
    if (op == Binary::Max) {
      for (std::int64_t i = 0; i < n; ++i) x[i] = larger(x[i], y[i]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) x[i] = smaller(x[i], y[i]);
    }
  } else {
    fail<InternalError>("tensor: operator {} has no complex form", name(op));
  }
}

template <class C> void scale_run(std::complex<double> scale, C* x, std::int64_t n) {
  if (scale == std::complex<double>(1)) return;
  const Real<C> re = static_cast<Real<C>>(scale.real());
  if constexpr (kIsComplex<C>) {
    if (scale.imag() != 0) {
      const C s(re, static_cast<Real<C>>(scale.imag()));
      for (std::int64_t i = 0; i < n; ++i) x[i] *= s;
      return;
    }
  }
  for (std::int64_t i = 0; i < n; ++i) x[i] *= re;
}

#define TRN_RUNS(C)                                                                             \
  template void load_run<C>(DType, const void*, std::int64_t, std::int64_t, std::int64_t, C*);  \
  template void store_run<C>(DType, void*, std::int64_t, std::int64_t, std::int64_t, const C*); \
  template void apply<C>(Unary, C*, std::int64_t);                                              \
  template void apply<C>(Binary, C*, const C*, std::int64_t);                                   \
  template void scale_run<C>(std::complex<double>, C*, std::int64_t);
TRN_RUNS(float)
TRN_RUNS(double)
TRN_RUNS(std::complex<float>)
TRN_RUNS(std::complex<double>)
#undef TRN_RUNS

}  // namespace trn::tensor::host
