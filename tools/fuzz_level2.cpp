// Random cases of level 2: full, band and packed matrices. A band or packed matrix is checked through the index
// formulas of storage.hpp.
#include <algorithm>
#include <utility>

#include <trn/blas/gemv.hpp>
#include <trn/blas/ger.hpp>
#include <trn/blas/symv.hpp>
#include <trn/blas/syr.hpp>
#include <trn/blas/trmv.hpp>

#include "fuzz_support.hpp"

namespace trn::tools::fuzz {

namespace {

using namespace blas;

// One matrix in band or packed storage: memory with NaN where nothing is stored.
template <class T> struct Memory {
  std::vector<T> host;
  Array<T> device;
  Memory(Case& c, std::int64_t size) : host(static_cast<std::size_t>(size), nan<T>()), device(c.executor, {1}) {}
  void upload(Case& c) { device = Array<T>::from_host(c.executor, {static_cast<std::int64_t>(host.size())}, host); }
};

std::size_t packed_index(Uplo uplo, Layout layout, std::int64_t n, std::int64_t i, std::int64_t j) {
  if (layout == Layout::RowMajor) std::swap(i, j), uplo = uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower;
  return static_cast<std::size_t>(uplo == Uplo::Upper ? i + j * (j + 1) / 2 : i + j * (2 * n - j - 1) / 2);
}

// How a matrix of level 2 is stored.
enum class Storage : std::uint8_t { Full, Band, Packed };

// A general, triangular or symmetric matrix in one of the three storages, and what element (i, j) is.
template <class T> struct Stored2 {
  Storage storage;
  std::int64_t rows, columns, kl, ku;
  Uplo uplo;
  Layout layout;
  Field<T> full;
  Memory<T> memory;
  std::int64_t ld = 1;

  // part: `uplo` triangle only (square), else all.
  Stored2(Case& c, Storage how, std::int64_t m, std::int64_t n, bool part)
      : storage(how),
        rows(m),
        columns(n),
        kl(c.below(8)),
        ku(c.below(8)),
        uplo(c.uplo()),
        layout(c.chance(2) ? Layout::RowMajor : Layout::ColumnMajor),
        full(c, how == Storage::Full ? m : 0, how == Storage::Full ? n : 0, part ? triangle(uplo) : Mask(everywhere)),
        memory(c, 1) {
    if (part && storage == Storage::Band) (uplo == Uplo::Lower ? ku : kl) = 0;
    if (storage == Storage::Full) return;
    ld = kl + ku + 1 + c.below(3);
    memory =
        Memory<T>(c, storage == Storage::Packed ? m * (m + 1) / 2
                                                : ld * std::max<std::int64_t>(1, layout == Layout::RowMajor ? m : n));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        if (holds(i, j)) memory.host[index(i, j)] = c.number<T>();
      }
    }
    spoil(c, everywhere);
  }
  // As of a field.
  void spoil(Case& c, const Mask& in) {
    if (storage == Storage::Full)
      return full.spoil(c, [&](auto i, auto j) { return triangle(uplo)(i, j) && in(i, j); });
    for (std::int64_t count = c.special && rows * columns > 0 ? c.below(3) : 0; count > 0; --count) {
      const std::int64_t i = c.below(rows),
                         j = std::clamp<std::int64_t>(i + (storage == Storage::Band ? c.below(kl + ku + 1) - kl : 0), 0,
                                                      columns - 1);
      if (holds(i, j) && in(i, j)) memory.host[index(i, j)] = c.wild<T>();
    }
    memory.upload(c);
  }
  [[nodiscard]] bool holds(std::int64_t i, std::int64_t j) const {
    if (storage == Storage::Packed) return triangle(uplo)(i, j);
    return i - j <= kl && j - i <= ku;
  }
  [[nodiscard]] std::size_t index(std::int64_t i, std::int64_t j) const {
    if (storage == Storage::Packed) return packed_index(uplo, layout, rows, i, j);
    return static_cast<std::size_t>(layout == Layout::ColumnMajor ? ku + i - j + j * ld : kl + j - i + i * ld);
  }
  [[nodiscard]] T& at(std::int64_t i, std::int64_t j) {
    return storage == Storage::Full ? full.at(i, j) : memory.host[index(i, j)];
  }
  // Of the stored matrix; zero outside a band.
  [[nodiscard]] Wide element(std::int64_t i, std::int64_t j) const {
    if (storage == Storage::Full) return wide(full.at(i, j));
    return holds(i, j) ? wide(memory.host[index(i, j)]) : Wide{};
  }
  [[nodiscard]] Wide op(Op o, std::int64_t i, std::int64_t j) const {
    return o == Op::N ? element(i, j) : conj(element(j, i), o == Op::C);
  }
  [[nodiscard]] Wide symmetric(bool hermitian, std::int64_t i, std::int64_t j) const {
    if (hermitian && i == j) return {element(i, i).re, 0};
    return triangle(uplo)(i, j) ? element(i, j) : conj(element(j, i), hermitian);
  }
  [[nodiscard]] Wide triangular(Op o, Diag diag, std::int64_t i, std::int64_t j) const {
    if (i == j && diag == Diag::Unit) return {1, 0};
    return triangle(uplo)(o == Op::N ? i : j, o == Op::N ? j : i) ? op(o, i, j) : Wide{};
  }
  [[nodiscard]] PackedView<T> packed() const {
    return {memory.device.executor(), memory.device.data(), rows, uplo, layout};
  }
  [[nodiscard]] BandView<T> band() const {
    return {memory.device.executor(), memory.device.data(), rows, columns, kl, ku, ld, layout};
  }
};

template <class T> Field<T> vector_output(Case& c, std::int64_t n, T beta) {
  return Field<T>(c, n, 1, [beta](auto, auto) { return beta != T(0); });
}

// y = alpha A x + beta y for any A given by its elements.
template <class T, class Element> void check_product(Case& c, const Field<T>& y, T alpha, T beta, const Field<T>& x,
                                                     std::int64_t rows, std::int64_t columns, const Element& a) {
  const bool idle = rows == 0 || columns == 0;  // BLAS leaves y alone
  if (idle)
    return compare(
        c, "y", y, [](auto, auto) { return false; }, 0, 1, [](auto, auto) { return Sum{}; });
  compare(c, "y", y, everywhere, native_bound<T>(columns), columns, [&](std::int64_t i, std::int64_t) {
    Sum sum, old;
    for (std::int64_t p = 0; p < columns && alpha != T(0); ++p) {
      if (const Wide element = a(i, p); !zero(element)) sum.add(element, wide(x.at(p, 0)));  // not outside a band
    }
    if (beta != T(0)) old.add(wide(beta), wide(y.at(i, 0)));
    return sum.times(wide(alpha)) + old;
  });
}

template <class T, Storage kStorage> void gemv_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const Stored2<T> a(c, kStorage, m, n, false);
  const Op op = c.op();
  const T alpha = c.factor<T>(), beta = c.factor<T>();
  const std::int64_t rows = op == Op::N ? m : n, columns = op == Op::N ? n : m;
  const Field<T> x(c, columns, 1), y = vector_output(c, rows, beta);
  if constexpr (kStorage == Storage::Full) {
    gemv(c.executor, op, alpha, a.full.view(), x.vector(), beta, y.vector());
  } else {
    gbmv(c.executor, op, alpha, a.band(), x.vector(), beta, y.vector());
  }
  check_product(c, y, alpha, beta, x, rows, columns, [&](auto i, auto p) { return a.op(op, i, p); });
}

template <class T, Storage kStorage, bool kHermitian> void symv_case(Case& c) {
  const std::int64_t n = std::min<std::int64_t>(c.extent(), 1500);
  const Stored2<T> a(c, kStorage, n, n, true);
  const T alpha = c.factor<T>(), beta = c.factor<T>();
  const Field<T> x(c, n, 1), y = vector_output(c, n, beta);
  const auto& e = c.executor;
  const auto vx = x.vector(), vy = y.vector();
  if constexpr (kHermitian) {
    if constexpr (kStorage == Storage::Full) hemv(e, a.uplo, alpha, a.full.view(), vx, beta, vy);
    if constexpr (kStorage == Storage::Band) hbmv(e, a.uplo, alpha, a.band(), vx, beta, vy);
    if constexpr (kStorage == Storage::Packed) hpmv(e, alpha, a.packed(), vx, beta, vy);
  } else {
    if constexpr (kStorage == Storage::Full) symv(e, a.uplo, alpha, a.full.view(), vx, beta, vy);
    if constexpr (kStorage == Storage::Band) sbmv(e, a.uplo, alpha, a.band(), vx, beta, vy);
    if constexpr (kStorage == Storage::Packed) spmv(e, alpha, a.packed(), vx, beta, vy);
  }
  check_product(c, y, alpha, beta, x, n, n, [&](auto i, auto p) { return a.symmetric(kHermitian, i, p); });
}

// Which entries of a solution depend on NaN or infinities: those whose row holds one, or one of whose nonzero columns
// belongs to such an entry.
template <class T> std::vector<bool> spoiled(const Stored2<T>& a, Op op, Diag diag, const Field<T>& b) {
  const std::int64_t n = a.rows;
  const bool lower = (a.uplo == Uplo::Lower) == (op == Op::N);
  std::vector<bool> spoils(static_cast<std::size_t>(n));
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = lower ? step : n - 1 - step;
    bool bad = !finite(wide(b.at(i, 0)));
    for (std::int64_t p = lower ? 0 : i; p < (lower ? i + 1 : n) && !bad; ++p) {
      const Wide element = a.triangular(op, diag, i, p);
      bad = !finite(element) || (p != i && !zero(element) && spoils[static_cast<std::size_t>(p)]);
    }
    spoils[static_cast<std::size_t>(i)] = bad;
  }
  return spoils;
}

template <class T, Storage kStorage, bool kSolve> void trmv_case(Case& c) {
  const std::int64_t n = std::min<std::int64_t>(c.extent(), 1500);
  const bool special = std::exchange(c.special, false);
  Stored2<T> a(c, kStorage, n, n, true);
  const Op op = c.op();
  const Diag diag = c.diag();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (kStorage == Storage::Full || a.holds(i, j)) a.at(i, j) *= static_cast<Real<T>>(1.0 / static_cast<double>(n));
    }
    a.at(i, i) = diag == Diag::Unit ? nan<T>() : a.at(i, i) + T(2);
  }
  c.special = special;
  a.spoil(c, [&](auto i, auto j) { return i != j; });
  const Field<T> x(c, n, 1);
  const auto& e = c.executor;
  const auto v = x.vector();
  if constexpr (kStorage == Storage::Full)
    kSolve ? trsv(e, a.uplo, op, diag, a.full.view(), v) : trmv(e, a.uplo, op, diag, a.full.view(), v);
  if constexpr (kStorage == Storage::Band)
    kSolve ? tbsv(e, a.uplo, op, diag, a.band(), v) : tbmv(e, a.uplo, op, diag, a.band(), v);
  if constexpr (kStorage == Storage::Packed)
    kSolve ? tpsv(e, op, diag, a.packed(), v) : tpmv(e, op, diag, a.packed(), v);
  const Field<T> after = x.after();
  const std::vector<bool> spoils =
      kSolve && special ? spoiled(a, op, diag, x) : std::vector<bool>(static_cast<std::size_t>(n));
  compare(c, "x", x, everywhere, kSolve ? 0 : native_bound<T>(n), n, [&](std::int64_t i, std::int64_t) {
    if (spoils[static_cast<std::size_t>(i)]) {
      if (finite(wide(after.at(i, 0))))
        report(c, "x(" + std::to_string(i) + ") is finite although it depends on a NaN or an infinity");
      return Sum{wide(after.at(i, 0)), 0};
    }
    Sum sum;
    for (std::int64_t p = 0; p < n; ++p) {
      if (const Wide element = a.triangular(op, diag, i, p); !zero(element))
        sum.add(element, wide((kSolve ? after : x).at(p, 0)));
    }
    if (!kSolve) return sum;
    const long double residual = size(wide(x.at(i, 0)) - sum.value);
    if (!(residual <= native_bound<T>(n + 4) * (1 + 0x1p-9L) * sum.scale))
      report(c, "residual " + std::to_string(static_cast<double>(residual / sum.scale)));
    return Sum{wide(after.at(i, 0)), 0};
  });
}

// The reference skips columns whose factor is zero, so 0 times infinity may or may not arise, as the matrix is stored:
// then both are right.
template <class T> Sum with_old(T old, T now, const Sum& product, bool zero_factor) {
  const Sum before{wide(old), size(wide(old))};
  return zero_factor && std::memcmp(&old, &now, sizeof(T)) == 0 ? before : product + before;
}

template <class T> void put_zero(Case& c, Field<T>& x) {
  if (!c.special || x.rows == 0 || c.chance(2)) return;
  x.at(c.below(x.rows), 0) = T(0);
  x.upload();
}

template <class T, bool kConj> void ger_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const T alpha = c.factor<T>();
  Field<T> x(c, m, 1), y(c, n, 1);
  put_zero(c, x), put_zero(c, y);
  const Field<T> a(c, m, n);
  kConj ? gerc(c.executor, alpha, x.vector(), y.vector(), a.view())
        : ger(c.executor, alpha, x.vector(), y.vector(), a.view());
  const Field<T> after = a.after();
  compare(c, "A", a, everywhere, native_bound<T>(2), 2, [&](std::int64_t i, std::int64_t j) {
    const Wide p = wide(x.at(i, 0)), q = conj(wide(y.at(j, 0)), kConj);
    Sum sum;
    if (alpha != T(0)) sum.add(p, q);
    return with_old(a.at(i, j), after.at(i, j), alpha == T(0) ? sum : sum.times(wide(alpha)), zero(p) || zero(q));
  });
}

// Full or packed.
template <class T, bool kTwo, bool kHermitian, bool kPacked> void syr_case(Case& c) {
  const std::int64_t n = std::min<std::int64_t>(c.extent(), 1500);
  T alpha = c.factor<T>();
  if constexpr (kHermitian && !kTwo) alpha = alpha.real();
  Field<T> x(c, n, 1), y(c, n, 1);
  put_zero(c, x), put_zero(c, y);
  const Stored2<T> a(c, kPacked ? Storage::Packed : Storage::Full, n, n, true);
  const auto& e = c.executor;
  const auto vx = x.vector(), vy = y.vector();
  if constexpr (kPacked) {
    if constexpr (kHermitian && kTwo) hpr2(e, alpha, vx, vy, a.packed());
    if constexpr (kHermitian && !kTwo) hpr(e, alpha.real(), vx, a.packed());
    if constexpr (!kHermitian && kTwo) spr2(e, alpha, vx, vy, a.packed());
    if constexpr (!kHermitian && !kTwo) spr(e, alpha, vx, a.packed());
  } else {
    if constexpr (kHermitian && kTwo) her2(e, a.uplo, alpha, vx, vy, a.full.view());
    if constexpr (kHermitian && !kTwo) her(e, a.uplo, alpha.real(), vx, a.full.view());
    if constexpr (!kHermitian && kTwo) syr2(e, a.uplo, alpha, vx, vy, a.full.view());
    if constexpr (!kHermitian && !kTwo) syr(e, a.uplo, alpha, vx, a.full.view());
  }
  const Field<T> full = a.full.after();
  const std::vector<T> packed = kPacked ? a.memory.device.to_host() : std::vector<T>();
  const auto expected = [&](std::int64_t i, std::int64_t j) {
    const T old = kPacked ? a.memory.host[a.index(i, j)] : a.full.at(i, j),
            now = kPacked ? packed[a.index(i, j)] : full.at(i, j);
    if (alpha == T(0)) return Sum{wide(old), size(wide(old))};
    const Wide xi = wide(x.at(i, 0)), xj = wide(x.at(j, 0)), yi = wide(y.at(i, 0)), yj = wide(y.at(j, 0));
    Sum one, two;
    one.add(xi, conj(kTwo ? yj : xj, kHermitian));
    if (kTwo) two.add(yi, conj(xj, kHermitian));
    const Sum product = one.times(wide(alpha)) + two.times(conj(wide(alpha), kHermitian));
    const bool skipped = kTwo ? (zero(xi) && zero(yi)) || (zero(xj) && zero(yj)) : zero(xi) || zero(xj);
    if (!kHermitian || i != j) return with_old(old, now, product, skipped);
    // Of the diagonal only the real part is read; the imaginary one becomes zero.
    if (wide(now).im != 0) report(c, "the diagonal is not real");
    Sum sum = with_old(T(wide(old).re), T(wide(now).re), product, skipped);
    sum.value.im = 0;
    return sum;
  };
  if constexpr (!kPacked) {
    compare(c, "A", a.full, triangle(a.uplo), native_bound<T>(4), 4, expected);
  } else {
    for (int sample = 0; sample < 256 && n > 0; ++sample) {
      const std::int64_t i = c.below(n), j = c.below(n);
      if (a.holds(i, j)) expect(c, "A", i, j, packed[a.index(i, j)], expected(i, j), native_bound<T>(4));
    }
  }
}

#define TRN_NAMED(id, ...) \
  template <class T> void id(Case& c) { __VA_ARGS__(c); }
TRN_NAMED(gemv_full, gemv_case<T, Storage::Full>)
TRN_NAMED(gemv_band, gemv_case<T, Storage::Band>)
TRN_NAMED(symv_full, symv_case<T, Storage::Full, false>)
TRN_NAMED(symv_band, symv_case<T, Storage::Band, false>)
TRN_NAMED(symv_packed, symv_case<T, Storage::Packed, false>)
TRN_NAMED(hemv_full, symv_case<T, Storage::Full, true>)
TRN_NAMED(hemv_band, symv_case<T, Storage::Band, true>)
TRN_NAMED(hemv_packed, symv_case<T, Storage::Packed, true>)
TRN_NAMED(trmv_full, trmv_case<T, Storage::Full, false>)
TRN_NAMED(trmv_band, trmv_case<T, Storage::Band, false>)
TRN_NAMED(trmv_packed, trmv_case<T, Storage::Packed, false>)
TRN_NAMED(trsv_full, trmv_case<T, Storage::Full, true>)
TRN_NAMED(trsv_band, trmv_case<T, Storage::Band, true>)
TRN_NAMED(trsv_packed, trmv_case<T, Storage::Packed, true>)
TRN_NAMED(ger_plain, ger_case<T, false>)
TRN_NAMED(ger_conj, ger_case<T, true>)
TRN_NAMED(syr_one, syr_case<T, false, false, false>)
TRN_NAMED(syr_two, syr_case<T, true, false, false>)
TRN_NAMED(her_one, syr_case<T, false, true, false>)
TRN_NAMED(her_two, syr_case<T, true, true, false>)
TRN_NAMED(spr_one, syr_case<T, false, false, true>)
TRN_NAMED(spr_two, syr_case<T, true, false, true>)
TRN_NAMED(hpr_one, syr_case<T, false, true, true>)
TRN_NAMED(hpr_two, syr_case<T, true, true, true>)
#undef TRN_NAMED

}  // namespace

std::vector<FuzzRow> level2() {
  return {{"gemv", TRN_FUZZ_FOUR(gemv_full)},    {"gbmv", TRN_FUZZ_FOUR(gemv_band)},
          {"symv", TRN_FUZZ_FOUR(symv_full)},    {"sbmv", TRN_FUZZ_FOUR(symv_band)},
          {"spmv", TRN_FUZZ_FOUR(symv_packed)},  {"hemv", TRN_FUZZ_COMPLEX(hemv_full)},
          {"hbmv", TRN_FUZZ_COMPLEX(hemv_band)}, {"hpmv", TRN_FUZZ_COMPLEX(hemv_packed)},
          {"trmv", TRN_FUZZ_FOUR(trmv_full)},    {"tbmv", TRN_FUZZ_FOUR(trmv_band)},
          {"tpmv", TRN_FUZZ_FOUR(trmv_packed)},  {"trsv", TRN_FUZZ_FOUR(trsv_full)},
          {"tbsv", TRN_FUZZ_FOUR(trsv_band)},    {"tpsv", TRN_FUZZ_FOUR(trsv_packed)},
          {"ger", TRN_FUZZ_FOUR(ger_plain)},     {"gerc", TRN_FUZZ_FOUR(ger_conj)},
          {"syr", TRN_FUZZ_FOUR(syr_one)},       {"syr2", TRN_FUZZ_FOUR(syr_two)},
          {"her", TRN_FUZZ_COMPLEX(her_one)},    {"her2", TRN_FUZZ_COMPLEX(her_two)},
          {"spr", TRN_FUZZ_FOUR(spr_one)},       {"spr2", TRN_FUZZ_FOUR(spr_two)},
          {"hpr", TRN_FUZZ_COMPLEX(hpr_one)},    {"hpr2", TRN_FUZZ_COMPLEX(hpr_two)}};
}

}  // namespace trn::tools::fuzz
