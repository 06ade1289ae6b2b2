// Stochastic rounding to bfloat16, where rounding to nearest stands still: a sum of small terms, and a heat equation
// whose field is stored in bfloat16 after every step.
//
// To nearest, an update below half a unit in the last place is lost, every time. Stochastically, y goes to the upper
// neighbour with the probability of its relative position, so that E[round(y)] = y: such updates arrive on average. The
// random word of an element depends on seed, step and its number alone (trn/core/rounding.hpp), so runs are
// reproducible, on every executor.
//
// Chains: w <- round(w + 0.45 unit), float16 numbers w in [1, 2): to nearest every update is lost and the error grows
// with n u; stochastically the variance of an update is 0.45 (1 - 0.45) squared units, so that the error grows with
// sqrt(n) u. Elements of a vector are independent chains.
//
// Heat: U <- round(U + a (T U + U T)), T = tridiag(1, -2, 1), on an n x n square. T U + U T is two products of bfloat16
// matrices on the executor, summed in float; axpy adds and rounds there. The start sin sin is an eigenvector: each step
// multiplies it by g = 1 - 8 a sin^2(pi h/2), with a = 1/16 and n = 31 by 1 - 0.0012, less than half a unit away from
// 1.
//
// What is checked:
//   - sums: every one within the bound that holds always, stochastic ones within the probable one; their mean over
//     seeds is the exact sum, to four standard errors; the sum to nearest stands still
//   - chains: to nearest none moves; stochastically the mean over chains is exact within five standard errors, and the
//     root mean square within a fifth of its expectation
//   - heat to nearest: not one element has changed at the end
//   - heat stochastically: the part along the eigenvector is g^steps within five standard deviations, which follow from
//     the variance of a rounding, at most a quarter of a squared unit
//
//   55_stochastic_rounding [--exec NAME] [--steps 400] [--figure FILE.svg] [--growth FILE.svg]
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <trn/blas/narrow.hpp>
#include <trn/solver/stored_vectors.hpp>
#include <trn/trn.hpp>

#include "arguments.hpp"
#include "figure.hpp"

namespace {

using trn::Rounding;

// 2^k equal terms; relative errors of the sum.
bool check_sums() {
  constexpr int kSeeds = 64;
  constexpr float kTerm = 0.01f;
  bool right = true;
  std::printf(
      "sums of 0.01 in bfloat16, relative error\n   terms  to nearest  stochastic: mean +- its error  root mean "
      "square\n");
  for (int k = 6; k <= 14; k += 2) {
    const std::vector<float> x(std::size_t{1} << k, kTerm);
    const double exact = static_cast<double>(kTerm) * static_cast<double>(x.size());
    trn::solver::StoredOptions options;
    options.rounding = Rounding::Nearest{};
    const auto nearest = trn::solver::sum_stored(x, options);
    const double off = static_cast<double>(nearest.value) - exact;
    right = right && std::abs(off) <= nearest.sure_bound;
    double mean = 0, squares = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      options.rounding = Rounding::Stochastic{seed};
      const auto s = trn::solver::sum_stored(x, options);
      const double e = static_cast<double>(s.value) - exact;
      right = right && std::abs(e) <= s.sure_bound && std::abs(e) <= s.probable_bound;
      mean += e / kSeeds;
      squares += e * e / kSeeds;
    }
    const double deviation = std::sqrt((squares - mean * mean) / (kSeeds - 1));
    std::printf("  %6zu  %10.4f  %19.4f +- %.4f  %16.4f\n", x.size(), off / exact, mean / exact, deviation / exact,
                std::sqrt(squares) / exact);
    right = right && std::abs(mean) <= 4 * deviation;
    // To nearest the sum stops at or below 512 terms: there a term is less than half a unit.
    if (k >= 10) right = right && static_cast<double>(nearest.value) <= 512 * static_cast<double>(kTerm);
  }
  return right;
}

// Errors of the chains after each update, in units u = 2^-11 of float16.
struct Chains {
  std::vector<double> updates, nearest, mean, root;
};

Chains chains(const trn::Executor& exec, std::uint64_t updates) {
  constexpr std::int64_t kChains = 512;
  constexpr float kUpdate = 0.45f * 0x1p-10f;
  const auto ones = trn::Array<float>::from_host(exec, {kChains}, std::vector<float>(kChains, 1.0f));
  const std::vector<trn::float16> start(kChains, trn::float16(1.0f));
  const auto lost = trn::Array<trn::float16>::from_host(exec, {kChains}, start),
             kept = trn::Array<trn::float16>::from_host(exec, {kChains}, start);
  const trn::VectorView<const float> step(exec, ones.data(), kChains, 1);
  const trn::VectorView<trn::float16> w(exec, lost.data(), kChains, 1), v(exec, kept.data(), kChains, 1);
  Chains result;
  for (std::uint64_t n = 1; n <= updates; ++n) {
    trn::blas::axpy(exec, kUpdate, step, w);
    trn::blas::axpy(exec, kUpdate, step, v, Rounding::Stochastic{2024, n});
    if ((n & (n - 1)) != 0 && n != updates) continue;
    const double exact = 1 + static_cast<double>(n) * static_cast<double>(kUpdate);
    double mean = 0, squares = 0, nearest = 0;
    for (const trn::float16 x : kept.to_host()) {
      const double off = (static_cast<double>(static_cast<float>(x)) - exact) * 0x1p11;
      mean += off / kChains, squares += off * off / kChains;
    }
    for (const trn::float16 x : lost.to_host())
      nearest = std::max(nearest, std::abs(static_cast<double>(static_cast<float>(x)) - exact) * 0x1p11);
    result.updates.push_back(static_cast<double>(n));
    result.nearest.push_back(nearest);
    result.mean.push_back(std::abs(mean));
    result.root.push_back(std::sqrt(squares));
  }
  return result;
}

bool check_chains(const trn::Executor& exec, const std::string& figure) {
  const Chains c = chains(exec, exec.family() == trn::Family::Host ? 2000 : 256);  // a simulated step takes longer
  bool right = true;
  std::printf("chains of updates by 0.45 of a unit in float16 on %s, errors in u = 2^-11\n", exec.name().c_str());
  std::printf("  updates  to nearest  stochastic: |mean|  root mean square  sqrt(n)\n");
  example::Series line{"n u", c.updates, {}, {}, true}, curve{"sqrt(n) u", c.updates, {}, {}, true};
  for (std::size_t i = 0; i < c.updates.size(); ++i) {
    const double n = c.updates[i], deviation = 2 * std::sqrt(0.45 * 0.55 * n);  // a unit is 2 u
    std::printf("  %7.0f  %10.1f  %18.2f  %16.2f  %7.2f\n", n, c.nearest[i], c.mean[i], c.root[i], std::sqrt(n));
    right = right && std::abs(c.nearest[i] - 0.9 * n) < 1e-3 * n && c.mean[i] <= 5 * deviation / std::sqrt(512.0);
    right = right && std::abs(c.root[i] - deviation) < 0.2 * deviation;
    line.y.push_back(n), curve.y.push_back(std::sqrt(n));
  }
  if (!figure.empty())
    example::draw(figure, "Errors of n small updates in float16", {"updates n", example::Scale::Log2},
                  {"error in u", example::Scale::Log10},
                  {{"to nearest", c.updates, c.nearest},
                   {"stochastic", c.updates, c.root},
                   {"mean of 512", c.updates, c.mean},
                   line,
                   curve});
  return right;
}

struct Heat {
  std::vector<double> along;  // the eigenvector's part after each step, 1 at the start
  std::int64_t changed = 0;   // elements that differ from the start at the end
};

Heat heat(const trn::Executor& exec, bool stochastic, std::int64_t n, std::int64_t steps, float a) {
  std::vector<trn::bfloat16> t(static_cast<std::size_t>(n * n), trn::bfloat16(0.0f)), u = t;
  std::vector<double> wave;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j);
      if (std::abs(i - j) <= 1) t[at] = trn::bfloat16(i == j ? -2.0f : 1.0f);
      const double h = std::numbers::pi / static_cast<double>(n + 1);
      wave.push_back(std::sin(h * static_cast<double>(i + 1)) * std::sin(h * static_cast<double>(j + 1)));
      u[at] = trn::bfloat16(static_cast<float>(wave.back()));
    }
  }
  const std::vector<trn::bfloat16> start = u;
  const auto band = trn::Matrix<trn::bfloat16>::from_host(exec, n, n, t),
             field = trn::Matrix<trn::bfloat16>::from_host(exec, n, n, u);
  const trn::Matrix<float> change(exec, n, n);
  const auto along = [&] {
    u = field.to_host();
    double with = 0, own = 0;
    for (std::size_t i = 0; i < u.size(); ++i)
      with += wave[i] * static_cast<double>(static_cast<float>(u[i])), own += wave[i] * wave[i];
    return with / own;
  };
  Heat result{{along()}};
  const trn::VectorView<const float> update(exec, change.view().data(), n * n, 1);
  const trn::VectorView<trn::bfloat16> numbers(exec, field.view().data(), n * n, 1);
  for (std::int64_t step = 0; step < steps; ++step) {
    trn::blas::gemm(exec, trn::blas::Op::N, trn::blas::Op::N, a, band.view(), field.view(), 0.0f, change.view());
    trn::blas::gemm(exec, trn::blas::Op::N, trn::blas::Op::N, a, field.view(), band.view(), 1.0f, change.view());
    trn::blas::axpy(exec, 1.0f, update, numbers,
                    stochastic ? Rounding(Rounding::Stochastic{2024, static_cast<std::uint64_t>(step)}) : Rounding());
    result.along.push_back(along());
  }
  for (std::size_t i = 0; i < u.size(); ++i) result.changed += u[i].bits != start[i].bits;
  return result;
}

int program(int argc, char** argv) {
  const example::Arguments arguments(argc, argv,
                                     {{"--exec", "host"}, {"--steps", "400"}, {"--figure", ""}, {"--growth", ""}});
  const auto exec = trn::Executor::open(arguments.text("--exec"));
  const std::int64_t steps = arguments.whole("--steps", 10, 5000), n = 31;
  constexpr float kStep = 1.0f / 16;
  bool right = check_sums();

  const trn::Recorder recorder(exec);
  right = check_chains(exec, arguments.text("--growth")) && right;
  const Heat nearest = heat(exec, false, n, steps, kStep), random = heat(exec, true, n, steps, kStep);
  const double g =
      1 - 8 * static_cast<double>(kStep) * std::pow(std::sin(std::numbers::pi / (2 * static_cast<double>(n + 1))), 2);
  const double exact = nearest.along.front() * std::pow(g, static_cast<double>(steps));
  // A rounding of a number below 1 has a unit of 2^-8 at most and so a variance of 2^-18 at most. Along the wave w it
  // counts as w.e/(w.w), w.w = (n + 1)^2/4, a variance of 2^-18/(w.w); later steps only damp it.
  const double deviation = std::sqrt(0x1p-18 * static_cast<double>(steps) * 4) / static_cast<double>(n + 1);
  std::printf("heat equation in bfloat16, %lld x %lld points, %lld steps on %s: the wave's height\n",
              static_cast<long long>(n), static_cast<long long>(n), static_cast<long long>(steps), exec.name().c_str());
  std::printf(
      "  exact        %.4f\n  to nearest   %.4f, %lld elements changed\n  stochastic   %.4f, at most %.4f off in five "
      "deviations\n",
      exact, nearest.along.back(), static_cast<long long>(nearest.changed), random.along.back(), 5 * deviation);
  right = right && nearest.changed == 0 && std::abs(random.along.back() - exact) <= 5 * deviation;
  for (const char* operation : {"blas.gemm", "blas.axpy"})
    right = right && recorder.family_of(operation) == trn::name(exec.family());
  right = right && (recorder.modelled_seconds() > 0) == (exec.family() == trn::Family::Device);
  if (!arguments.text("--figure").empty()) {
    std::vector<example::Series> lines{
        {"to nearest", {}, nearest.along}, {"stochastic", {}, random.along}, {"exact", {}, {}, {}, true}};
    for (std::int64_t i = 0; i <= steps; ++i) {
      for (auto& line : lines) line.x.push_back(static_cast<double>(i));
      lines[2].y.push_back(nearest.along.front() * std::pow(g, static_cast<double>(i)));
    }
    example::draw(arguments.text("--figure"), "A heat equation stored in bfloat16", {"steps"}, {"height of the wave"},
                  lines);
  }
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] { return program(argc, argv); });
}
