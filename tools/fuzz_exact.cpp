// `trnsci fuzz exact`: products in Precision Exact with operands that are meant to break them (cancellation, wide
// exponents, subnormal numbers, results near the ends of the range, NaN, infinities, extreme factors), every operation
// and type, judged by sums without rounding. The host and three simulated machines must give the same bits and the same
// bounds.
#include <algorithm>
#include <array>
#include <random>

#include <fmt/core.h>

#include <trn/blas/pair_energy.hpp>
#include <trn/core/error.hpp>

#include "../tests/support/exact_case.hpp"
#include "fuzz_driver.hpp"

namespace trn::tools::fuzz {

namespace {

using blas::Op;
using test::ExactCase;
using test::Operation;

struct Arguments {
  Span span;
  std::string only;
  bool host_only = false;
};

// How the numbers of a row are drawn.
enum class Kind { Plain, Integers, Wide, Sparse, Subnormal, Large, Small, Special, Count };

class Source {
 public:
  explicit Source(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  // Significands with few and with many bits.
  double significand() {
    const double x = 1 + static_cast<double>(random_() >> 11) * 0x1p-53;
    const double cut = std::ldexp(1.0, static_cast<int>(below(53)));
    return (chance(2) ? -1 : 1) * (chance(3) ? std::nearbyint(x * cut) / cut : x);
  }
  // `top` and `bottom`: exponents of the largest and the smallest number of the type.
  double number(Kind kind, int width, int top, int bottom) {
    const auto exponent = [&](int low, int high) { return low + static_cast<int>(below(high - low + 1)); };
    switch (kind) {
      case Kind::Integers:
        return static_cast<double>(below(401) - 200);
      case Kind::Wide:
        return std::ldexp(significand(), exponent(std::max(-width, bottom), std::min(width, top - 1)));
      case Kind::Sparse:
        return chance(2) ? 0 : std::ldexp(significand(), chance(2) ? -width : std::min(width, top - 1));
      case Kind::Subnormal:
        return std::ldexp(significand(), bottom + exponent(0, 53));
      case Kind::Large:
        return std::ldexp(significand(), chance(2) ? top - exponent(1, 4) : top / 2 - exponent(0, 3));
      case Kind::Small:
        return std::ldexp(significand(), bottom / 2 + exponent(-40, 20));
      case Kind::Special:
        if (chance(12))
          return std::array{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}[static_cast<std::size_t>(below(3))];
        [[fallthrough]];
      default:
        return std::normal_distribution<double>()(random_);
    }
  }
  std::mt19937_64& engine() { return random_; }

 private:
  std::mt19937_64 random_;
};

template <class T> T number(Source& from, Kind kind, int width) {
  using R = blas::Real<T>;
  constexpr bool kWide = std::is_same_v<R, double>;
  const auto part = [&] { return static_cast<R>(from.number(kind, width, kWide ? 1023 : 127, kWide ? -1074 : -149)); };
  if constexpr (blas::ComplexScalar<T>) {
    const R re = part();
    return T(re, from.chance(8) ? R(0) : part());
  } else {
    return part();
  }
}

template <class T> T factor(Source& from) {
  using R = blas::Real<T>;
  constexpr bool kWide = std::is_same_v<R, double>;
  switch (from.below(8)) {
    case 0:
      return T(0);
    case 1:
    case 2:
      return T(1);
    case 3:
      return T(-1);
    case 4:
      return number<T>(from, Kind::Wide, kWide ? 970 : 110);
    case 5:
      return number<T>(from, Kind::Subnormal, 0);
    default:
      return number<T>(from, Kind::Plain, 0);
  }
}

// Rows (or columns) of one matrix are of one or two kinds.
template <class T> std::vector<T> matrix(Source& from, std::pair<std::int64_t, std::int64_t> shape, bool special) {
  const auto kind = [&] {
    const auto k = static_cast<Kind>(from.below(static_cast<std::int64_t>(Kind::Count)));
    return k == Kind::Special && !special ? Kind::Plain : k;
  };
  const std::array kinds{kind(), kind()};
  const int width = std::array{4, 40, 200, 500, 1022}[static_cast<std::size_t>(from.below(5))];
  const bool by_rows = from.chance(2), mixed = from.chance(2);
  std::vector<T> x(static_cast<std::size_t>(shape.first * shape.second));
  for (std::int64_t i = 0; i < shape.first; ++i) {
    for (std::int64_t j = 0; j < shape.second; ++j) {
      x[static_cast<std::size_t>(i * shape.second + j)] =
          number<T>(from, kinds[mixed ? static_cast<std::size_t>((by_rows ? i : j) % 2) : 0], width);
    }
  }
  return x;
}

// The second half of the inner dimension nearly takes the first half away.
template <class T> void cancel(Source& from, ExactCase<T>& s) {
  if (s.operation != Operation::Gemm || s.k < 2) return;
  const auto [rows, columns] = s.shape_a();
  const auto [brows, bcolumns] = s.shape_b();
  for (std::int64_t p = 0; p < s.k / 2; ++p) {
    const std::int64_t q = p + s.k / 2;
    for (std::int64_t i = 0; i < s.m; ++i) {
      const auto at = [&](std::int64_t k) {
        return static_cast<std::size_t>(s.op_a == Op::N ? i * columns + k : k * columns + i);
      };
      s.a[at(q)] = s.a[at(p)] * T(static_cast<blas::Real<T>>(1 + (from.chance(2) ? 1e-5 : 0)));
    }
    for (std::int64_t j = 0; j < s.n; ++j) {
      const auto at = [&](std::int64_t k) {
        return static_cast<std::size_t>(s.op_b == Op::N ? k * bcolumns + j : j * bcolumns + k);
      };
      s.b[at(q)] = -s.b[at(p)];
    }
  }
  (void)rows, (void)brows;
}

struct Machines {
  std::vector<Executor> all;
};

template <class T> std::int64_t product(Source& from, Operation operation, const Machines& machines, Current& current) {
  ExactCase<T> s;
  s.operation = operation;
  s.m = 1 + from.below(9), s.n = 1 + from.below(9),
  s.k = from.chance(12)  ? 0
        : from.chance(3) ? 1 + from.below(40)
                         : 1 + from.below(6);
  const bool hermitian = s.hermitian();
  const auto op = [&] { return std::array{Op::N, Op::T, Op::C}[static_cast<std::size_t>(from.below(3))]; };
  s.op_a = op(), s.op_b = op();
  if (s.rank_k() && s.op_a != Op::N && blas::ComplexScalar<T>) s.op_a = hermitian ? Op::C : Op::T;
  s.uplo = from.chance(2) ? blas::Uplo::Lower : blas::Uplo::Upper;
  s.side = from.chance(2) ? blas::Side::Left : blas::Side::Right;
  s.diag = from.chance(3) ? blas::Diag::Unit : blas::Diag::NonUnit;
  s.alpha = factor<T>(from), s.beta = factor<T>(from);
  const bool special = from.chance(6);
  s.a = matrix<T>(from, s.shape_a(), special), s.b = matrix<T>(from, s.shape_b(), special),
  s.c = matrix<T>(from, s.shape_c(), special);
  if (from.chance(6)) cancel(from, s);
  if (from.chance(4)) {  // alpha A B + beta C cancels
    ExactCase<T> first = s;
    first.beta = 0;
    const auto c = test::run(machines.all.front(), first).c;
    if (c.size() == s.c.size()) s.c = c, s.beta = T(-1);
  }
  current.what = fmt::format("{} {} m {} n {} k {} ops {}{} uplo {} side {} diag {} alpha {} {} beta {} {}",
                             test::kOperationNames[static_cast<int>(operation)], trn::name(dtype_of<T>), s.m, s.n, s.k,
                             static_cast<int>(s.op_a), static_cast<int>(s.op_b), static_cast<int>(s.uplo),
                             static_cast<int>(s.side), static_cast<int>(s.diag), std::real(s.alpha), std::imag(s.alpha),
                             std::real(s.beta), std::imag(s.beta));
  const auto host = test::run(machines.all.front(), s);
  const test::ExactVerdict v = test::judge(s, host);
  if (!v.finding.empty()) throw Finding{v.finding};
  for (std::size_t i = 1; i < machines.all.size(); ++i) {
    if (!test::same_bits(test::run(machines.all[i], s), host))
      throw Finding{fmt::format("'{}' differs from the host", machines.all[i].name())};
  }
  return v.elements;
}

// pair_energy: the host in Native, a machine in Exact, both within their bound of sums in quadruple precision.
std::int64_t pair_energy(Source& from, const Machines& machines, Current& current) {
  __extension__ using Quad = __float128;
  const std::int64_t nocc = 1 + from.below(3), naux = 1 + from.below(12), nvir = 1 + from.below(7);
  const int spread = static_cast<int>(from.below(30));
  std::vector<double> b(static_cast<std::size_t>(nocc * naux * nvir)), low(static_cast<std::size_t>(nocc)),
      high(static_cast<std::size_t>(nvir));
  for (double& x : b) x = std::ldexp(from.number(Kind::Plain, 0, 0, 0), -static_cast<int>(from.below(spread + 1)));
  if (from.chance(3)) {  // columns of very different size
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = std::ldexp(b[i], -7 * static_cast<int>(i % static_cast<std::size_t>(nvir)));
  }
  for (double& e : low) e = -0.3 - static_cast<double>(from.below(1000)) * 0.02;
  for (double& e : high) e = static_cast<double>(from.below(3000)) * 0.01 - (from.chance(4) ? 0.25 : 0);
  current.what = fmt::format("pair_energy nocc {} naux {} nvir {} spread {}", nocc, naux, nvir, spread);
  Quad exact = 0;
  for (std::int64_t i = 0; i < nocc; ++i) {
    for (std::int64_t j = i; j < nocc; ++j) {
      const auto t = [&](std::int64_t x, std::int64_t y) {
        Quad sum = 0;
        for (std::int64_t p = 0; p < naux; ++p) {
          sum += static_cast<Quad>(b[static_cast<std::size_t>((i * naux + p) * nvir + x)]) *
                 b[static_cast<std::size_t>((j * naux + p) * nvir + y)];
        }
        return sum;
      };
      for (std::int64_t x = 0; x < nvir; ++x) {
        for (std::int64_t y = 0; y < nvir; ++y) {
          const auto energy = [&](const std::vector<double>& e, std::int64_t k) {
            return static_cast<Quad>(e[static_cast<std::size_t>(k)]);
          };
          const Quad d = energy(low, i) + energy(low, j) - energy(high, x) - energy(high, y), v = t(x, y);
          exact += (i == j ? 1 : 2) * v * (2 * v - t(y, x)) / d;
        }
      }
    }
  }
  for (const Executor& e : machines.all) {
    const auto db = Array<double>::from_host(e, {nocc, naux, nvir}, b);
    const auto dl = Array<double>::from_host(e, {nocc}, low), dh = Array<double>::from_host(e, {nvir}, high);
    const auto got = blas::pair_energy(e, db.view(), VectorView<double>(e, dl.data(), nocc, 1),
                                       VectorView<double>(e, dh.data(), nvir, 1),
                                       {.precision = e.family() == Family::Host ? Mode::Native : Mode::Exact});
    const Quad difference = static_cast<Quad>(got.opposite_spin) + static_cast<Quad>(got.same_spin) - exact;
    const auto error = std::abs(static_cast<double>(difference));
    if (!(error <= got.accuracy.bound)) {
      throw Finding{fmt::format("'{}': energy {:.17g}, exact {:.17g}, error {:g}, bound {:g}", e.name(),
                                got.opposite_spin + got.same_spin, static_cast<double>(exact), error,
                                got.accuracy.bound)};
    }
  }
  return 1;
}

void run(const Arguments& a) {
  Machines machines{{Executor::host()}};
  if (!a.host_only) {
    for (const char* name : {"sim:trn1", "sim:trn2", "sim:trn3"}) machines.all.push_back(Executor::open(name));
  }
  constexpr auto kOperations = static_cast<std::int64_t>(std::size(test::kOperationNames));
  const std::int64_t only = std::ranges::find(test::kOperationNames, a.only) - std::begin(test::kOperationNames);
  require(a.only.empty() || a.only == "pair_energy" || only < kOperations, "fuzz: no operation '{}'", a.only);
  std::int64_t elements = 0;
  const std::string command = std::string("trnsci fuzz exact") + (a.host_only ? " --host" : "") +
                              (a.only.empty() ? "" : " --only \"" + a.only + "\"");
  drive(a.span, command, [&](std::uint64_t seed, Current& current) {
    Source from(seed);
    std::int64_t which = from.below(kOperations + 1), type = from.below(4);
    if (!a.only.empty()) which = only;  // kOperations: pair_energy
    if (which == kOperations) {
      current.operation = "pair_energy";
      elements += pair_energy(from, machines, current);
      return;
    }
    const auto operation = static_cast<Operation>(which);
    current.operation = test::kOperationNames[which];
    if (ExactCase<double>{.operation = operation}.hermitian()) type = 2 + type % 2;
    elements += type == 0   ? product<float>(from, operation, machines, current)
                : type == 1 ? product<double>(from, operation, machines, current)
                : type == 2 ? product<std::complex<float>>(from, operation, machines, current)
                            : product<std::complex<double>>(from, operation, machines, current);
  });
  fmt::print("{} elements on {} executors\n", elements, machines.all.size());
}

}  // namespace

void add_fuzz_exact(Command& parent) {
  Command sub = parent.add(
      "exact",
      "the certificates of precision exact, with adversarial operands, on the host and the simulated machines");
  auto a = std::make_shared<Arguments>();
  add_span(sub, a->span);
  sub.text("--only", a->only, "one operation: gemm, syrk, ..., pair_energy");
  sub.flag("--host", a->host_only, "without the machines, whose bits are compared with the host's");
  sub.run([a] { run(*a); });
}

}  // namespace trn::tools::fuzz
