// Random cases of level 2: full, band and packed matrices. A band or packed matrix is checked through the index formulas of storage.hpp.
#include <algorithm>

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
      : storage(how), rows(m), columns(n), kl(c.below(8)), ku(c.below(8)), uplo(c.uplo()), layout(c.chance(2) ? Layout::RowMajor : Layout::ColumnMajor),
        full(c, how == Storage::Full ? m : 0, how == Storage::Full ? n : 0, part ? triangle(uplo) : Mask(everywhere)), memory(c, 1) {
    if (part && storage == Storage::Band) (uplo == Uplo::Lower ? ku : kl) = 0;
    if (storage == Storage::Full) return;
    ld = kl + ku + 1 + c.below(3);
    memory = Memory<T>(c, storage == Storage::Packed ? m * (m + 1) / 2 : ld * std::max<std::int64_t>(1, layout == Layout::RowMajor ? m : n));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        if (holds(i, j)) memory.host[index(i, j)] = c.number<T>();
      }
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
  [[nodiscard]] T& at(std::int64_t i, std::int64_t j) { return storage == Storage::Full ? full.at(i, j) : memory.host[index(i, j)]; }
  // Of the stored matrix; zero outside a band.
  [[nodiscard]] Wide element(std::int64_t i, std::int64_t j) const {
    if (storage == Storage::Full) return wide(full.at(i, j));
    return holds(i, j) ? wide(memory.host[index(i, j)]) : Wide{};
  }
  [[nodiscard]] Wide op(Op o, std::int64_t i, std::int64_t j) const { return o == Op::N ? element(i, j) : conj(element(j, i), o == Op::C); }
  [[nodiscard]] Wide symmetric(bool hermitian, std::int64_t i, std::int64_t j) const {
    if (hermitian && i == j) return {element(i, i).re, 0};
    return triangle(uplo)(i, j) ? element(i, j) : conj(element(j, i), hermitian);
  }
  [[nodiscard]] Wide triangular(Op o, Diag diag, std::int64_t i, std::int64_t j) const {
    if (i == j && diag == Diag::Unit) return {1, 0};
    return triangle(uplo)(o == Op::N ? i : j, o == Op::N ? j : i) ? op(o, i, j) : Wide{};
  }
  [[nodiscard]] PackedView<T> packed() const { return {memory.device.executor(), memory.device.data(), rows, uplo, layout}; }
  [[nodiscard]] BandView<T> band() const { return {memory.device.executor(), memory.device.data(), rows, columns, kl, ku, ld, layout}; }
};

template <class T> Field<T> vector_output(Case& c, std::int64_t n, T beta) {
  return Field<T>(c, n, 1, [beta](auto, auto) { return beta != T(0); });
}

// y = alpha A x + beta y for any A given by its elements.
template <class T, class Element>
void check_product(Case& c, const Field<T>& y, T alpha, T beta, const Field<T>& x, std::int64_t rows, std::int64_t columns, const Element& a) {
  const bool idle = rows == 0 || columns == 0;  // BLAS leaves y alone
  if (idle) return compare(c, "y", y, [](auto, auto) { return false; }, 0, 1, [](auto, auto) { return Sum{}; });
  compare(c, "y", y, everywhere, native_bound<T>(columns), columns, [&](std::int64_t i, std::int64_t) {
    Sum sum, old;
    for (std::int64_t p = 0; p < columns && alpha != T(0); ++p) sum.add(a(i, p), wide(x.at(p, 0)));
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
  const auto &e = c.executor;
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

template <class T, Storage kStorage, bool kSolve> void trmv_case(Case& c) {
  const std::int64_t n = std::min<std::int64_t>(c.extent(), 1500);
  Stored2<T> a(c, kStorage, n, n, true);
  const Op op = c.op();
  const Diag diag = c.diag();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (kStorage == Storage::Full || a.holds(i, j)) a.at(i, j) *= static_cast<Real<T>>(1.0 / static_cast<double>(n));
    }
    a.at(i, i) = diag == Diag::Unit ? nan<T>() : a.at(i, i) + T(2);
  }
  kStorage == Storage::Full ? a.full.upload() : a.memory.upload(c);
  const Field<T> x(c, n, 1);
  const auto &e = c.executor;
  const auto v = x.vector();
  if constexpr (kStorage == Storage::Full) kSolve ? trsv(e, a.uplo, op, diag, a.full.view(), v) : trmv(e, a.uplo, op, diag, a.full.view(), v);
  if constexpr (kStorage == Storage::Band) kSolve ? tbsv(e, a.uplo, op, diag, a.band(), v) : tbmv(e, a.uplo, op, diag, a.band(), v);
  if constexpr (kStorage == Storage::Packed) kSolve ? tpsv(e, op, diag, a.packed(), v) : tpmv(e, op, diag, a.packed(), v);
  const Field<T> after = x.after();
  compare(c, "x", x, everywhere, kSolve ? 0 : native_bound<T>(n), n, [&](std::int64_t i, std::int64_t) {
    Sum sum;
    for (std::int64_t p = 0; p < n; ++p) sum.add(a.triangular(op, diag, i, p), wide((kSolve ? after : x).at(p, 0)));
    if (!kSolve) return sum;
    const long double residual = size(wide(x.at(i, 0)) - sum.value);
    if (!(residual <= native_bound<T>(n + 4) * (1 + 0x1p-9L) * sum.scale)) report(c, "residual " + std::to_string(static_cast<double>(residual / sum.scale)));
    return Sum{wide(after.at(i, 0)), 0};
  });
}

template <class T, bool kConj> void ger_case(Case& c) {
  const std::int64_t m = c.extent(), n = c.extent();
  const T alpha = c.factor<T>();
  const Field<T> x(c, m, 1), y(c, n, 1), a(c, m, n);
  kConj ? gerc(c.executor, alpha, x.vector(), y.vector(), a.view()) : ger(c.executor, alpha, x.vector(), y.vector(), a.view());
  compare(c, "A", a, everywhere, native_bound<T>(2), 2, [&](std::int64_t i, std::int64_t j) {
    Sum sum, old;
    sum.add(wide(x.at(i, 0)), conj(wide(y.at(j, 0)), kConj));
    old.add({1, 0}, wide(a.at(i, j)));
    return sum.times(wide(alpha)) + old;
  });
}

template <class T, bool kTwo, bool kHermitian> void syr_case(Case& c) {
  const std::int64_t n = std::min<std::int64_t>(c.extent(), 1500);
  const Uplo uplo = c.uplo();
  T alpha = c.factor<T>();
  if constexpr (kHermitian && !kTwo) alpha = alpha.real();
  const Field<T> x(c, n, 1), y(c, n, 1), a(c, n, n, triangle(uplo));
  const auto &e = c.executor;
  if constexpr (kHermitian) {
    if constexpr (kTwo) her2(e, uplo, alpha, x.vector(), y.vector(), a.view());
    if constexpr (!kTwo) her(e, uplo, alpha.real(), x.vector(), a.view());
  } else {
    if constexpr (kTwo) syr2(e, uplo, alpha, x.vector(), y.vector(), a.view());
    if constexpr (!kTwo) syr(e, uplo, alpha, x.vector(), a.view());
  }
  compare(c, "A", a, triangle(uplo), native_bound<T>(4), 4, [&](std::int64_t i, std::int64_t j) {
    Sum one, two, old;
    one.add(wide(x.at(i, 0)), conj(wide((kTwo ? y : x).at(j, 0)), kHermitian));
    if (kTwo) two.add(wide(y.at(i, 0)), conj(wide(x.at(j, 0)), kHermitian));
    old.add({1, 0}, wide(a.at(i, j)));
    Sum sum = one.times(wide(alpha)) + two.times(conj(wide(alpha), kHermitian)) + old;
    if (kHermitian && i == j && alpha != T(0)) sum.value.im = 0;
    return sum;
  });
}

#define TRN_NAMED(id, ...) template <class T> void id(Case& c) { __VA_ARGS__(c); }
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
TRN_NAMED(syr_one, syr_case<T, false, false>)
TRN_NAMED(syr_two, syr_case<T, true, false>)
TRN_NAMED(her_one, syr_case<T, false, true>)
TRN_NAMED(her_two, syr_case<T, true, true>)
#undef TRN_NAMED

}  // namespace

std::vector<FuzzRow> level2() {
  return {{"gemv", TRN_FUZZ_FOUR(gemv_full)},    {"gbmv", TRN_FUZZ_FOUR(gemv_band)},    {"symv", TRN_FUZZ_FOUR(symv_full)},
          {"sbmv", TRN_FUZZ_FOUR(symv_band)},    {"spmv", TRN_FUZZ_FOUR(symv_packed)},  {"hemv", TRN_FUZZ_COMPLEX(hemv_full)},
          {"hbmv", TRN_FUZZ_COMPLEX(hemv_band)}, {"hpmv", TRN_FUZZ_COMPLEX(hemv_packed)}, {"trmv", TRN_FUZZ_FOUR(trmv_full)},
          {"tbmv", TRN_FUZZ_FOUR(trmv_band)},    {"tpmv", TRN_FUZZ_FOUR(trmv_packed)},  {"trsv", TRN_FUZZ_FOUR(trsv_full)},
          {"tbsv", TRN_FUZZ_FOUR(trsv_band)},    {"tpsv", TRN_FUZZ_FOUR(trsv_packed)},  {"ger", TRN_FUZZ_FOUR(ger_plain)},
          {"gerc", TRN_FUZZ_FOUR(ger_conj)},     {"syr", TRN_FUZZ_FOUR(syr_one)},       {"syr2", TRN_FUZZ_FOUR(syr_two)},
          {"her", TRN_FUZZ_COMPLEX(her_one)},    {"her2", TRN_FUZZ_COMPLEX(her_two)}};
}

}  // namespace trn::tools::fuzz
