// Linear systems that are hard on purpose, solved with a proof.
//
// Every matrix has whole numbers, and so has the solution x: b = A x is formed without a rounding, and the error of
// what a solver returns is known exactly. Two solvers take each system in double:
//
//   LU with partial pivoting, as LAPACK's gesv has it: right as far as the condition number lets it be;
//   solve() with Certify::Rigorous, which returns X together with a bound of max|x - x*| / max|x*| that is proved,
//   every rounding counted, and says TargetMissed or Singular where it cannot. On a device its products are Exact ones.
//
// Asked for is a bound of 1e-15 everywhere but for the last matrix, which is singular and must not come out as Ok.
//
//   32_gallery_solve [--exec NAME] [--n 10]
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <trn/trn.hpp>

#include "arguments.hpp"

namespace {

using Index = std::int64_t;
using Element = std::function<double(Index i, Index j)>;

struct Problem {
  const char* name;
  Index n;
  Element element;
  bool singular = false;
};

// n over k, exactly.
double binomial(Index n, Index k) {
  double value = 1;
  for (Index i = 1; i <= k; ++i) value = value * static_cast<double>(n - k + i) / static_cast<double>(i);
  return value;
}
// The least number that all of 1 to n divide.
double common_multiple(Index n) {
  Index value = 1;
  for (Index i = 2; i <= n; ++i) {
    Index a = value, b = i;
    while (b != 0) a = std::exchange(b, a % b);
    value *= i / a;
  }
  return static_cast<double>(value);
}

std::vector<Problem> gallery(Index n) {
  const double multiple = common_multiple(2 * n - 1);
  return {
      {"Hilbert's, times a whole number", n,
       [=](Index i, Index j) { return multiple / static_cast<double>(i + j + 1); }},
      {"Pascal's: binomial coefficients", n, [](Index i, Index j) { return binomial(i + j, i); }},
      {"Vandermonde's, nodes 1 to n", n - 2,
       [](Index i, Index j) { return std::pow(static_cast<double>(i + 1), static_cast<double>(j)); }},
      {"Frank's: Hessenberg, determinant 1", n + 2,
       [=](Index i, Index j) { return j + 1 < i ? 0.0 : static_cast<double>(n + 2 - std::max(i, j)); }},
      {"Wilkinson's: pivots grow to 2^(n-1)", 6 * n,
       [=](Index i, Index j) { return i == j || j == 6 * n - 1 ? 1.0
                                      : j < i                  ? -1.0
                                                               : 0.0; }},
      {"whole numbers from 1 on, rank 2", n, [=](Index i, Index j) { return static_cast<double>(i * n + j + 1); },
       true},
  };
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] {
    const example::Arguments arguments(argc, argv, {{"--exec", "host"}, {"--n", "10"}});
    const auto exec = trn::Executor::open(arguments.text("--exec"));
    const auto host = trn::Executor::host();
    constexpr double kTarget = 1e-15;
    bool right = true;
    std::printf("%-36s %3s %9s %9s %9s %9s  %s\n", "matrix", "n", "condition", "LU", "proved", "bound", "outcome");
    for (const Problem& p : gallery(arguments.whole("--n", 4, 10))) {
      const auto size = static_cast<std::size_t>(p.n);
      std::vector<double> a(size * size), x(size), b(size);
      for (Index i = 0; i < p.n; ++i) x[static_cast<std::size_t>(i)] = static_cast<double>(1 + i % 3 - 2 * (i % 2));
      bool whole = true;
      for (Index i = 0; i < p.n; ++i) {
        double sum = 0, sizes = 0;
        for (Index j = 0; j < p.n; ++j) {
          const double value = p.element(i, j);
          a[static_cast<std::size_t>(i * p.n + j)] = value;
          sum += value * x[static_cast<std::size_t>(j)];
          sizes += std::abs(value * x[static_cast<std::size_t>(j)]);
          whole = whole && value == std::nearbyint(value);
        }
        whole = whole && sizes < 0x1p53;  // every partial sum is a double
        b[static_cast<std::size_t>(i)] = sum;
      }
      const auto error = [&](const std::vector<double>& found) {
        double worst = 0, largest = 0;
        for (std::size_t i = 0; i < size; ++i) {
          if (std::isnan(found[i])) return double{NAN};
          worst = std::max(worst, std::abs(found[i] - x[i])), largest = std::max(largest, std::abs(x[i]));
        }
        return worst / largest;
      };
      const auto plain = trn::Matrix<double>::from_host(host, p.n, 1, b);
      const trn::solver::Lu<double> lu(host, trn::Matrix<double>::from_host(host, p.n, p.n, a).view());
      (void)lu.solve(plain.view());

      const auto proved = trn::Matrix<double>::from_host(exec, p.n, 1, b);
      const trn::Recorder recorder(exec);
      const auto report =
          trn::solver::solve<double>(exec, trn::Matrix<double>::from_host(exec, p.n, p.n, a).view(), proved.view(),
                                     {.target_error = kTarget, .certify = trn::solver::Certify::Rigorous});
      const std::vector<double> found = proved.to_host();
      const double e = error(found);
      std::printf("%-36s %3d %9.1e %9.1e %9.1e %9.1e  %s, %d levels\n", p.name, static_cast<int>(p.n), lu.condition(),
                  error(plain.to_host()), e, report.accuracy.bound,
                  std::string(trn::solver::name(report.outcome.status)).c_str(), report.levels);
      right = right && whole && recorder.family_of("blas.gemm") == trn::name(exec.family());
      if (p.singular) {
        right = right && report.outcome.status == trn::solver::Status::Singular;
      } else {
        right = right && report.outcome.ok() && report.guarantee == trn::solver::Guarantee::Rigorous &&
                e <= report.accuracy.bound && report.accuracy.bound <= kTarget;
      }
    }
    std::printf("%s\n", right ? "right" : "WRONG");
    return right ? 0 : 1;
  });
}
