// Random cases of operands and results in 16, 8 and 4 bits: scaled_gemm, quantize, microscaling, and results that are
// rounded stochastically. The float row of the table takes them all; types are drawn.
#include <algorithm>

#include <trn/blas/mx.hpp>
#include <trn/blas/narrow.hpp>
#include <trn/blas/quantize.hpp>
#include <trn/core/convert.hpp>

#include "fuzz_support.hpp"

namespace trn::tools::fuzz {

namespace {

using namespace blas;

bool has_fn(const Case& c) { return c.executor.family() == Family::Host || c.executor.name() == "sim:trn3"; }

// f(T{}) for an 8-bit type that the executor has.
template <class F> void with_float8(Case& c, F f) {
  switch (c.below(has_fn(c) ? 3 : 2)) {
    case 0:
      return f(float8_e4m3{});
    case 1:
      return f(float8_e5m2{});
    default:
      return f(float8_e4m3fn{});
  }
}
template <class F> void with_result(Case& c, F f) {
  switch (c.below(3)) {
    case 0:
      return f(0.0F);
    case 1:
      return f(bfloat16{});
    default:
      return f(float16{});
  }
}

// A scale of each row and block: numbers, or powers of two, which have a road of their own on devices.
Field<float> scales_for(Case& c, std::int64_t rows, std::int64_t blocks, bool powers) {
  const bool special = std::exchange(c.special, false);
  Field<float> s(c, rows, blocks);
  c.special = special;
  if (powers) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t t = 0; t < blocks; ++t)
        s.at(i, t) = std::ldexp(c.chance(4) ? -1.0F : 1.0F, static_cast<int>(c.below(9)) - 4);
    }
    s.upload();
  }
  return s;
}

template <class A, class Out> void scaled_gemm_of(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent(), k = c.extent(), blocks = (k + kScaleBlock - 1) / kScaleBlock;
  const Op oa = c.op(), ob = c.op();
  const bool powers = c.chance(2);
  const float alpha = powers && c.chance(2) ? 0.5F : c.factor<float>(), beta = c.factor<float>();
  const Field<A> a(c, oa == Op::N ? m : k, oa == Op::N ? k : m), b(c, ob == Op::N ? k : n, ob == Op::N ? n : k);
  const Field<Out> out(c, m, n, [&](auto, auto) { return beta != 0; });
  ScaledOptions options;
  const bool has_a = c.chance(2), has_b = c.chance(2);
  const Field<float> sa = scales_for(c, c.chance(3) ? 1 : m, c.chance(2) ? 1 : blocks, powers),
                     sb = scales_for(c, c.chance(2) ? 1 : blocks, c.chance(3) ? 1 : n, powers);
  if (has_a) options.scale_a = sa.view();
  if (has_b) options.scale_b = sb.view();
  const Accuracy accuracy = scaled_gemm(c.executor, oa, ob, alpha, a.view(), b.view(), beta, out.view(), options);
  const auto scale = [&](std::int64_t i, std::int64_t p, std::int64_t j) {
    const std::int64_t t = p / kScaleBlock;
    return (has_a ? wide(sa.at(sa.rows == 1 ? 0 : i, sa.columns == 1 ? 0 : t)) : Wide{1, 0}) *
           (has_b ? wide(sb.at(sb.rows == 1 ? 0 : t, sb.columns == 1 ? 0 : j)) : Wide{1, 0});
  };
  compare(c, "C", out, everywhere, accuracy.bound, k, [&](std::int64_t i, std::int64_t j) {
    Sum sum, old;
    for (std::int64_t p = 0; p < k && alpha != 0; ++p) sum.add(scale(i, p, j) * a.op(oa, i, p), b.op(ob, p, j));
    if (beta != 0) old.add(wide(beta), wide(out.at(i, j)));
    return scaled(alpha, sum) + old;
  });
}
template <class T> void scaled_gemm_case(Case& c) {
  with_float8(c, [&](auto a) { with_result(c, [&](auto out) { scaled_gemm_of<decltype(a), decltype(out)>(c); }); });
}

template <class T> void quantize_case(Case& c) {
  with_float8(c, [&](auto type) {
    using Q = decltype(type);
    const std::int64_t rows = c.extent(), columns = c.extent(), groups = (columns + kScaleBlock - 1) / kScaleBlock;
    const auto way = c.below(3);  // one scale, of rows, of groups
    Field<float> x(c, rows, columns);
    const int exponent = static_cast<int>(c.below(200)) - 100;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) x.at(i, j) = std::ldexp(x.at(i, j), exponent);
    }
    x.upload();
    const Field<Q> q = output(c, rows, columns, Q{});
    const Field<float> s = output(c, way == 0 ? 1 : rows, way == 2 ? groups : 1, 0.0F);
    quantize(c.executor, x.view(), q.view(), s.view());
    if (rows == 0 || columns == 0) return;
    const Float8Limits limits = float8_limits(dtype_of<Q>);
    const auto of = [&](std::int64_t r, std::int64_t g) {  // the scale of group (r, g) by the header's definition
      long double most = 0;
      for (std::int64_t i = way == 0 ? 0 : r; i < (way == 0 ? rows : r + 1); ++i) {
        for (std::int64_t j = way == 2 ? g * kScaleBlock : 0;
             j < (way == 2 ? std::min(columns, (g + 1) * kScaleBlock) : columns); ++j) {
          if (!std::isfinite(x.at(i, j))) return std::numeric_limits<long double>::quiet_NaN();
          most = std::max<long double>(most, std::abs(x.at(i, j)));
        }
      }
      long double scale = 0x1p-126L;
      while (scale * limits.largest < most) scale *= 2;
      return scale;
    };
    compare(c, "scale", s, everywhere, 0, rows * columns, [&](std::int64_t r, std::int64_t g) {
      return Sum{{of(r, g), 0}, 0};
    });
    const Field<float> found = s.after();
    const Field<Q> codes = q.after();
    for (int sample = 0; sample < 64; ++sample) {
      const std::int64_t i = c.below(rows), j = c.below(columns);
      const long double scale = found.at(way == 0 ? 0 : i, way == 2 ? j / kScaleBlock : 0), value = x.at(i, j);
      if (std::isnan(scale)) continue;
      const long double error = std::abs(value - scale * wide(codes.at(i, j)).re);
      if (!(error <= std::max<long double>(limits.roundoff * std::abs(value), scale * limits.smallest / 2)))
        report(c, "quantize: an error above its bound");
    }
  });
}

template <class T> void mx_case(Case& c) {
  const std::int64_t m = 1 + c.extent() % 300, n = 1 + c.extent() % 300, k = 1 + c.extent() % 700;
  const MxType type = c.pick({MxType::Float8E4M3FN, MxType::Float8E5M2, MxType::Float4E2M1FN});
  c.special = false;
  const Executor host = Executor::host();
  const Field<bfloat16> a(c, m, k), b(c, n, k);
  const auto made = [&](const Field<bfloat16>& x) {
    // Four bits are made on the host.
    if (type == MxType::Float4E2M1FN && c.executor.family() != Family::Host) {
      const MatrixView<const bfloat16> here(host, x.host.data() + x.offset, x.rows, x.columns, x.row_stride,
                                            x.column_stride);
      return mx_quantize(host, here, type).on(c.executor);
    }
    return mx_quantize(c.executor, x.view(), type);
  };
  const MxMatrix qa = made(a), qb = made(b);
  const std::vector<float> va = qa.to_host(), vb = qb.to_host();
  const double u = type == MxType::Float8E4M3FN ? 0x1p-4 : type == MxType::Float8E5M2 ? 0x1p-3 : 0x1p-2;
  for (int sample = 0; sample < 64; ++sample) {  // scale eta / 2 is at most u of the group's largest number
    const std::int64_t i = c.below(m), p = c.below(k), first = p / kMxGroup * kMxGroup;
    long double most = 0;
    for (std::int64_t q = first; q < std::min(k, first + kMxGroup); ++q)
      most = std::max(most, std::abs(wide(a.at(i, q)).re));
    const long double x = wide(a.at(i, p)).re;
    if (!(std::abs(x - va[static_cast<std::size_t>(i * k + p)]) <= u * most))
      report(c, "mx_quantize: an error above its bound");
  }
  const float alpha = c.factor<float>(), beta = c.factor<float>();
  const Field<float> out(c, m, n, [&](auto, auto) { return beta != 0; });
  const Accuracy accuracy = mx_gemm(c.executor, alpha, qa, qb, beta, out.view());
  compare(c, "C", out, everywhere, accuracy.bound, k, [&](std::int64_t i, std::int64_t j) {
    Sum sum, old;
    for (std::int64_t p = 0; p < k && alpha != 0; ++p)
      sum.add(wide(va[static_cast<std::size_t>(i * k + p)]), wide(vb[static_cast<std::size_t>(j * k + p)]));
    if (beta != 0) old.add(wide(beta), wide(out.at(i, j)));
    return scaled(alpha, sum) + old;
  });
}

template <class F> void with_narrow(Case& c, F f) {
  if (c.chance(2)) return with_float8(c, f);
  c.chance(2) ? f(bfloat16{}) : f(float16{});
}

// axpy, scal, the copy that converts and axpby: the bits of the rule, element i of the vector being number i.
template <class T> void round_case(Case& c) {
  with_narrow(c, [&](auto type) {
    using Y = decltype(type);
    const std::int64_t n = c.extent();
    const auto which = c.below(4);
    const float alpha = c.factor<float>(), beta = c.factor<float>();
    const Rounding rounding =
        c.chance(3) ? Rounding()
                    : Rounding(Rounding::Stochastic{c.random(), static_cast<std::uint64_t>(c.below(1 << 20))});
    const Field<float> x(c, n, 1);
    const Field<Y> y = output(c, n, 1, Y(which == 2 || (which == 3 && beta == 0) ? 0.0F : 1.0F));
    if (which == 0) axpy(c.executor, alpha, x.vector(), y.vector(), rounding);
    if (which == 1) scal(c.executor, alpha, y.vector(), rounding);
    if (which == 2) copy(c.executor, x.vector(), y.vector(), rounding);
    if (which == 3) axpby(c.executor, alpha, x.vector(), beta, y.vector(), rounding);
    std::vector<float> exact;
    for (std::int64_t i = 0; i < n; ++i) {
      const float old = static_cast<float>(y.at(i, 0)), product = alpha * x.at(i, 0);
      const float scaled = beta * old;
      exact.push_back(which == 0   ? product + old
                      : which == 1 ? alpha * old
                      : which == 2 ? x.at(i, 0)
                      : beta == 0  ? product
                                   : product + scaled);
    }
    std::vector<Y> want(exact.size());
    from_float(exact.data(), dtype_of<Y>, want.data(), n, rounding);
    compare(c, "y", y, everywhere, 0, n, [&](std::int64_t i, std::int64_t) {
      return which == 0 && alpha == 0 ? Sum{wide(y.at(i, 0)), 0} : Sum{wide(want[static_cast<std::size_t>(i)]), 0};
    });
  });
}

// gemm whose result is stored in 16 or 8 bits: within its bound, which counts one unit of C.
template <class In, class Out> void narrow_gemm_of(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent(), k = c.extent();
  const Op oa = c.op(), ob = c.op();
  const float alpha = c.factor<float>() / 16, beta = c.factor<float>() / 2;
  const Field<In> a(c, oa == Op::N ? m : k, oa == Op::N ? k : m), b(c, ob == Op::N ? k : n, ob == Op::N ? n : k);
  const Field<Out> out(c, m, n, [&](auto, auto) { return beta != 0; });
  const Accuracy accuracy = gemm(c.executor, oa, ob, alpha, MatrixView<const In>(a.view()),
                                 MatrixView<const In>(b.view()), beta, out.view(), Rounding::Stochastic{c.random()});
  // Below its smallest normal number a format's unit is that number's; what exceeds the largest number is not compared.
  const Field<Out> after = out.after();
  const long double least = sizeof(Out) == 1               ? (std::is_same_v<Out, float8_e5m2> ? 0x1p-16L : 0x1p-9L)
                            : std::is_same_v<Out, float16> ? 0x1p-24L
                                                           : 0;
  compare(c, "C", out, everywhere, 1, k, [&](std::int64_t i, std::int64_t j) {
    Sum sum, old;
    for (std::int64_t p = 0; p < k && alpha != 0; ++p) sum.add(a.op(oa, i, p), b.op(ob, p, j));
    if (beta != 0) old.add(wide(beta), wide(out.at(i, j)));
    Sum all = scaled(alpha, sum) + old;
    const bool overflows = !finite(wide(after.at(i, j))) && finite(all.value) &&
                           std::abs(all.value.re) * (1 + 0x1p-2L) >= (sizeof(Out) == 2                   ? 65504.0L
                                                                      : std::is_same_v<Out, float8_e5m2> ? 57344.0L
                                                                      : std::is_same_v<Out, float8_e4m3> ? 240.0L
                                                                                                         : 448.0L);
    if (overflows) return Sum{wide(after.at(i, j)), 0};
    if (std::is_same_v<Out, float8_e4m3fn> && std::isinf(all.value.re))
      return Sum{wide(after.at(i, j)), 0};  // no infinity
    all.scale = accuracy.bound * all.scale + least;
    return all;
  });
}
template <class T> void narrow_gemm_case(Case& c) {
  switch (c.below(4)) {
    case 0:
      return narrow_gemm_of<bfloat16, bfloat16>(c);
    case 1:
      return narrow_gemm_of<float16, float16>(c);
    case 2:
      return with_float8(c, [&](auto out) { narrow_gemm_of<bfloat16, decltype(out)>(c); });
    default:
      return with_float8(c, [&](auto out) { narrow_gemm_of<float, decltype(out)>(c); });
  }
}

}  // namespace

// All under float: the drawn type is the operands'.
#define TRN_FUZZ_NARROW(f) \
  { f<float>, nullptr, nullptr, nullptr }
std::vector<FuzzRow> narrow() {
  return {{"scaled_gemm", TRN_FUZZ_NARROW(scaled_gemm_case)},
          {"quantize", TRN_FUZZ_NARROW(quantize_case)},
          {"mx_gemm", TRN_FUZZ_NARROW(mx_case)},
          {"round", TRN_FUZZ_NARROW(round_case)},
          {"narrow_gemm", TRN_FUZZ_NARROW(narrow_gemm_case)}};
}
#undef TRN_FUZZ_NARROW

}  // namespace trn::tools::fuzz
