// Random cases of what cuBLAS has beside BLAS: geam, dgmm, packed triangles, gemm with an epilogue, batches of gemm and
// trsm.
#include <algorithm>
#include <numeric>

#include <trn/blas/dgmm.hpp>
#include <trn/blas/geam.hpp>
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/gemm_epilogue.hpp>
#include <trn/blas/packed.hpp>
#include <trn/blas/trsm_batched.hpp>

#include "fuzz_support.hpp"

namespace trn::tools::fuzz {

namespace {

using namespace blas;

template <class T> void geam_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const Op oa = c.op(), ob = c.op();
  const T alpha = c.factor<T>(), beta = c.factor<T>();
  const Field<T> a(c, oa == Op::N ? m : n, oa == Op::N ? n : m), b(c, ob == Op::N ? m : n, ob == Op::N ? n : m),
      out = output(c, m, n, T(0));
  geam(c.executor, oa, ob, alpha, a.view(), beta, b.view(), out.view());
  compare(c, "C", out, everywhere, native_bound<T>(2), 2, [&](std::int64_t i, std::int64_t j) {
    Sum sum;
    if (alpha != T(0)) sum.add(wide(alpha), a.op(oa, i, j));
    if (beta != T(0)) sum.add(wide(beta), b.op(ob, i, j));
    return sum;
  });
}

template <class T> void dgmm_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const Side side = c.side();
  const Field<T> a(c, m, n), x(c, side == Side::Left ? m : n, 1), out = output(c, m, n, T(0));
  dgmm(c.executor, side, a.view(), x.vector(), out.view());
  compare(c, "C", out, everywhere, native_bound<T>(1), 1, [&](std::int64_t i, std::int64_t j) {
    Sum sum;
    sum.add(wide(x.at(side == Side::Left ? i : j, 0)), wide(a.at(i, j)));
    return sum;
  });
}

template <class T> void packed_case(Case& c) {
  const std::int64_t n = std::min<std::int64_t>(c.extent(), 700);
  const Uplo uplo = c.uplo();
  const Layout layout = c.chance(2) ? Layout::RowMajor : Layout::ColumnMajor;
  const Field<T> a(c, n, n, triangle(uplo)), back = output(c, n, n, T(0));
  const Array<T> packed(c.executor, {n * (n + 1) / 2});
  trttp(c.executor, a.view(), PackedView<T>(c.executor, packed.data(), n, uplo, layout));
  tpttr(c.executor, PackedView<T>(c.executor, packed.data(), n, uplo, layout), back.view());
  compare(c, "A", back, triangle(uplo), 0, 1, [&](std::int64_t i, std::int64_t j) { return Sum{wide(a.at(i, j)), 0}; });
}

long double activated(Activation activation, long double x) {
  constexpr long double kRootTwo = 1.41421356237309504880L, kRootTwoOverPi = 0.79788456080286535588L;
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return x < 0 ? 0 : x;
    case Activation::Gelu:
      return 0.5L * x * std::erfc(-x / kRootTwo);
    case Activation::GeluTanh:
      return x / (1 + std::exp(-2 * kRootTwoOverPi * (x + 0.044715L * x * x * x)));
  }
  return x;
}

template <class In, class Out> void epilogue_of(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent(), k = c.extent();
  const Op oa = c.op(), ob = c.op();
  using S = Compute<Out>;
  const S alpha = c.factor<S>(), beta = c.factor<S>();
  Epilogue<Out> epilogue;
  epilogue.activation = c.pick({Activation::None, Activation::Relu, Activation::Gelu, Activation::GeluTanh});
  epilogue.bias_along = c.chance(2) ? Bias::PerRow : Bias::PerColumn;
  if (c.chance(2)) epilogue.scale = c.number<S>();
  const bool per_row = epilogue.bias_along == Bias::PerRow, biased = c.chance(2);
  const Field<In> a(c, oa == Op::N ? m : k, oa == Op::N ? k : m), b(c, ob == Op::N ? k : n, ob == Op::N ? n : k);
  const Field<Out> bias(c, per_row ? m : n, 1), out(c, m, n, [&](auto, auto) { return beta != 0; });
  if (biased) epilogue.bias = bias.vector();
  const Accuracy accuracy = gemm_epilogue(c.executor, oa, ob, alpha, a.view(), b.view(), beta, out.view(), epilogue);
  compare(c, "C", out, everywhere, accuracy.bound, k, [&](std::int64_t i, std::int64_t j) {
    Sum sum, old;
    for (std::int64_t p = 0; p < k && alpha != 0; ++p) sum.add(a.op(oa, i, p), b.op(ob, p, j));
    if (beta != 0) old.add(wide(beta), wide(out.at(i, j)));
    if (biased) old.add({1, 0}, wide(bias.at(per_row ? i : j, 0)));
    const Sum all = scaled(alpha, sum) + old;
    return Sum{{activated(epilogue.activation, all.value.re) * wide(epilogue.scale).re, 0},
               all.scale * std::abs(wide(epilogue.scale).re)};
  });
}
template <class T> void epilogue_case(Case& c) {
  if constexpr (std::is_same_v<T, float>) {
    switch (c.below(5)) {
      case 0:
        return epilogue_of<bfloat16, bfloat16>(c);
      case 1:
        return epilogue_of<bfloat16, float>(c);
      case 2:
        return epilogue_of<float16, float16>(c);
      case 3:
        return epilogue_of<float16, float>(c);
      default:
        break;
    }
  }
  epilogue_of<T, T>(c);
}

// Equal matrices of a batch, each `lines` lines of `line` elements, `ld` apart, in one piece of memory: one after
// another or, scattered, in any order with gaps. NaN wherever no element is.
template <class T> struct Batch {
  std::int64_t line, lines, ld, stride;
  std::vector<std::int64_t> offsets;
  std::vector<T> host;
  Array<T> device;

  Batch(Case& c, std::int64_t count, std::int64_t elements, std::int64_t number_of_lines, bool padded, bool scattered,
        bool filled)
      : line(elements),
        lines(number_of_lines),
        ld(std::max<std::int64_t>(1, line) + (padded ? 1 + c.below(5) : 0)),
        stride(std::max<std::int64_t>(1, ld * lines) + (scattered ? c.below(4) : 0)),
        offsets(static_cast<std::size_t>(count)),
        device(c.executor, {1}) {
    std::iota(offsets.begin(), offsets.end(), 0);
    if (scattered) std::shuffle(offsets.begin(), offsets.end(), c.random);
    for (std::int64_t& offset : offsets) offset *= stride;
    host.assign(static_cast<std::size_t>(std::max<std::int64_t>(1, stride * count)), nan<T>());
    for (std::int64_t p = 0; p < count && filled; ++p) {
      for (std::int64_t i = 0; i < lines * line; ++i)
        at(p, i / line, i % line) = c.special && c.chance(400) ? c.wild<T>() : c.number<T>();
    }
    upload();
  }
  void upload() { device = Array<T>::from_host(device.executor(), {static_cast<std::int64_t>(host.size())}, host); }
  [[nodiscard]] std::size_t index(std::int64_t p, std::int64_t l, std::int64_t i) const {
    return static_cast<std::size_t>(offsets[static_cast<std::size_t>(p)] + l * ld + i);
  }
  [[nodiscard]] T& at(std::int64_t p, std::int64_t l, std::int64_t i) { return host[index(p, l, i)]; }
  // Element (i, j) of op(matrix p).
  [[nodiscard]] Wide element(Layout layout, Op op, std::int64_t p, std::int64_t i, std::int64_t j) const {
    return element(host, layout, op, p, i, j);
  }
  [[nodiscard]] Wide element(const std::vector<T>& memory, Layout layout, Op op, std::int64_t p, std::int64_t i,
                             std::int64_t j) const {
    if (op != Op::N) std::swap(i, j);
    return conj(wide(memory[layout == Layout::RowMajor ? index(p, i, j) : index(p, j, i)]), op == Op::C);
  }
  template <class P> void addresses(std::vector<P>& list) const {
    for (const std::int64_t offset : offsets) list.push_back(device.data() + offset);
  }
  // The memory now; what is not an element must be as it was.
  [[nodiscard]] std::vector<T> after(Case& c) const {
    std::vector<T> now = device.to_host(), masked = host;
    for (std::size_t p = 0; p < offsets.size(); ++p) {
      for (std::int64_t i = 0; i < lines * line; ++i) {
        const std::size_t at = index(static_cast<std::int64_t>(p), i / line, i % line);
        masked[at] = now[at];
      }
    }
    if (std::memcmp(masked.data(), now.data(), now.size() * sizeof(T)) != 0)
      report(c, "memory outside the results was changed");
    return now;
  }
};

// One group of products: its shape, factors and memory.
template <class T> struct Group {
  GemmGroup<T> call;
  Batch<T> a, b, c;
  bool padded;
  Group(Case& k, const BatchShape& s, std::int64_t count, bool scattered, T beta, bool pad)
      : call{s, k.factor<T>(), beta, count},
        a(batch(k, s.op_a, s.m, s.k, s.layout, count, scattered, pad, true)),
        b(batch(k, s.op_b, s.k, s.n, s.layout, count, scattered, pad, true)),
        c(batch(k, Op::N, s.m, s.n, s.layout, count, scattered, pad, beta != T(0))),
        padded(pad) {
    if (padded) call.shape.lda = a.ld, call.shape.ldb = b.ld, call.shape.ldc = c.ld;
  }
  // Of op(X), rows x columns.
  static Batch<T> batch(Case& c, Op op, std::int64_t rows, std::int64_t columns, Layout layout, std::int64_t count,
                        bool scattered, bool padded, bool filled) {
    if ((op == Op::N) != (layout == Layout::RowMajor)) std::swap(rows, columns);
    return Batch<T>(c, count, columns, rows, padded, scattered, filled);
  }
  void check(Case& k, double bound) const {
    const BatchShape& s = call.shape;
    const std::vector<T> now = c.after(k);
    for (int sample = 0; sample < 48 && s.m * s.n * call.count > 0; ++sample) {
      const std::int64_t p = k.below(call.count), i = k.below(s.m), j = k.below(s.n);
      Sum sum, old;
      for (std::int64_t q = 0; q < s.k && call.alpha != T(0); ++q)
        sum.add(a.element(s.layout, s.op_a, p, i, q), b.element(s.layout, s.op_b, p, q, j));
      const std::size_t at = s.layout == Layout::RowMajor ? c.index(p, i, j) : c.index(p, j, i);
      if (call.beta != T(0)) old.add(wide(call.beta), wide(c.host[at]));
      expect(k, "C", i, j, now[at], scaled(call.alpha, sum) + old, bound);
    }
  }
};

// Strided, by addresses, or groups of different shapes by addresses.
template <class T> void batched_case(Case& c) {
  const auto form = c.below(3);
  std::vector<Group<T>> groups;
  for (std::int64_t count = form == 2 ? c.below(4) : 1; count > 0; --count) {
    BatchShape s{c.op(), c.op(), c.extent() % 80, c.extent() % 80, c.extent() % 80};
    s.layout = c.chance(2) ? Layout::RowMajor : Layout::ColumnMajor;
    groups.emplace_back(c, s, c.below(12), form != 0, c.factor<T>(), c.chance(2));
  }
  Accuracy accuracy;
  if (form == 0) {
    const Group<T>& g = groups[0];
    accuracy =
        gemm_strided_batched(c.executor, g.call.shape, g.call.alpha, g.a.device.data(), g.a.stride, g.b.device.data(),
                             g.b.stride, g.call.beta, g.c.device.data(), g.c.stride, g.call.count);
  } else {
    std::vector<GemmGroup<T>> calls;
    std::vector<const T*> a, b;
    std::vector<T*> out;
    for (const Group<T>& g : groups) calls.push_back(g.call), g.a.addresses(a), g.b.addresses(b), g.c.addresses(out);
    accuracy = form == 1 ? gemm_batched<T>(c.executor, calls[0].shape, calls[0].alpha, a, b, calls[0].beta, out)
                         : gemm_grouped_batched<T>(c.executor, calls, a, b, out);
  }
  for (const Group<T>& g : groups) g.check(c, accuracy.bound);
}

template <class T> void trsm_batched_case(Case& c) {
  TrsmBatchShape s{c.side(), c.uplo(), c.op(), c.diag(), c.extent() % 100, c.extent() % 100};
  s.layout = c.chance(2) ? Layout::RowMajor : Layout::ColumnMajor;
  const std::int64_t count = c.below(8), order = s.side == Side::Left ? s.m : s.n;
  const T alpha = c.factor<T>();
  const bool padded = c.chance(2), rows = s.layout == Layout::RowMajor, special = std::exchange(c.special, false);
  Batch<T> a(c, count, order, order, padded, true, true);
  for (std::int64_t p = 0; p < count; ++p) {
    for (std::int64_t l = 0; l < order; ++l) {
      for (std::int64_t i = 0; i < order; ++i) {
        T& x = a.at(p, l, i);
        const bool stored = triangle(s.uplo)(rows ? l : i, rows ? i : l) && (i != l || s.diag == Diag::NonUnit);
        x = !stored  ? nan<T>()
            : i == l ? x * Real<T>(0.25) + T(2)
                     : x * static_cast<Real<T>>(1.0 / static_cast<double>(order));
      }
    }
  }
  a.upload();
  c.special = special;
  const Batch<T> b(c, count, rows ? s.n : s.m, rows ? s.m : s.n, padded, true, true);
  if (padded) s.lda = a.ld, s.ldb = b.ld;
  std::vector<const T*> as;
  std::vector<T*> bs;
  a.addresses(as), b.addresses(bs);
  trsm_batched<T>(c.executor, s, alpha, as, bs);
  const std::vector<T> x = b.after(c);
  if (c.executor.family() != Family::Host) return;  // no bound is promised there
  const auto at = [&](std::int64_t p, std::int64_t i, std::int64_t j) {
    if (i == j && s.diag == Diag::Unit) return Wide{1, 0};
    return triangle(s.uplo)(s.op == Op::N ? i : j, s.op == Op::N ? j : i) ? a.element(s.layout, s.op, p, i, j) : Wide{};
  };
  for (int sample = 0; sample < 48 && s.m * s.n * count > 0; ++sample) {
    const std::int64_t p = c.below(count), i = c.below(s.m), j = c.below(s.n);
    Sum product;
    bool spoiled = false;  // by what a row of the right-hand side holds: no element of the triangle is zero
    for (std::int64_t q = 0; q < order; ++q) {
      const Wide t = s.side == Side::Left ? at(p, i, q) : at(p, q, j);
      if (zero(t)) continue;
      const std::int64_t row = s.side == Side::Left ? q : i, column = s.side == Side::Left ? j : q;
      product.add(t, b.element(x, s.layout, Op::N, p, row, column));
      spoiled = spoiled || !finite(b.element(s.layout, Op::N, p, row, column));
    }
    const Wide got = b.element(x, s.layout, Op::N, p, i, j);
    if (alpha == T(0)) {
      if (!zero(got)) report(c, "alpha is 0, X is not");
    } else if (spoiled) {
      if (finite(got)) report(c, "an element of X is finite although it depends on a NaN or an infinity");
    } else {
      const long double residual = size(wide(alpha) * b.element(s.layout, Op::N, p, i, j) - product.value);
      if (!(residual <= native_bound<T>(order + 4) * (1 + 0x1p-9L) * product.scale))
        report(c, "residual " + std::to_string(static_cast<double>(residual / product.scale)));
    }
  }
}

}  // namespace

std::vector<FuzzRow> extensions() {
  return {{"geam", TRN_FUZZ_FOUR(geam_case)},
          {"dgmm", TRN_FUZZ_FOUR(dgmm_case)},
          {"packed", TRN_FUZZ_FOUR(packed_case)},
          {"gemm_epilogue", TRN_FUZZ_REAL(epilogue_case)},
          {"gemm_batched", TRN_FUZZ_FOUR(batched_case)},
          {"trsm_batched", TRN_FUZZ_FOUR(trsm_batched_case)}};
}

}  // namespace trn::tools::fuzz
