// `trnsci fuzz blas`: random operations with random sizes, layouts, strides, factors, NaN and infinities, checked against sums in wider arithmetic, until the
// time is up. Every case is a function of its seed; a finding prints the seed and ends with status 1.
#include <chrono>

#include <fmt/core.h>

#include <trn/core/error.hpp>

#include "commands.hpp"
#include "fuzz_support.hpp"

namespace trn::tools {

namespace fuzz {

void report(const Case& c, const std::string& text) { throw Finding{c.what + ": " + text}; }

}  // namespace fuzz

namespace {

struct Arguments {
  double seconds = 10;
  std::uint64_t seed = 1;
  std::int64_t cases = 0;  // 0: as many as fit the time
  std::string executor = "host", only;
  fuzz::Limits limits;
};

constexpr const char* kTypeNames[] = {"float32", "float64", "complex64", "complex128"};

void run(const Arguments& a) {
  std::vector<fuzz::FuzzRow> rows;
  for (auto level : {fuzz::level1(), fuzz::level2(), fuzz::level3(), fuzz::extensions()}) {
    for (const fuzz::FuzzRow& row : level) {
      if (a.only.empty() || a.only == row.name) rows.push_back(row);
    }
  }
  require(!rows.empty(), "fuzz: no operation '{}'", a.only);
  const Executor executor = Executor::open(a.executor);
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t done = 0, absent = 0;
  for (std::uint64_t seed = a.seed;; ++seed) {
    if (a.cases > 0 && done == a.cases) break;
    if (a.cases == 0 && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > a.seconds) break;
    fuzz::Case c(executor, seed, a.limits);
    const fuzz::FuzzRow& row = rows[static_cast<std::size_t>(c.below(static_cast<std::int64_t>(rows.size())))];
    int type = static_cast<int>(c.below(4));
    if (row.run[type] == nullptr) type = (type + 2) % 4;
    c.what = fmt::format("{} {}{}", row.name, kTypeNames[type], c.special ? " with NaN and infinities" : "");
    ++done;
    try {
      row.run[type](c);
    } catch (const NotImplemented&) {
      ++absent;
    } catch (const fuzz::Finding& finding) {
      fail<Error>("fuzz: {}; again: trnsci fuzz blas --exec {} --seed {} --cases 1 --max-extent {} --max-work {}{}", finding.text, a.executor, seed,
                  a.limits.extent, a.limits.work, a.only.empty() ? "" : " --only " + a.only);
    } catch (const Error& error) {
      fail<Error>("fuzz: {}: refused or failed: {}; seed {}", c.what, error.what(), seed);
    }
  }
  fmt::print("{} cases of {} operations on {}, seeds from {}: no finding; {} had no kernel there\n", done, rows.size(), a.executor, a.seed, absent);
}

}  // namespace

void add_fuzz(CLI::App& app) {
  CLI::App* parent = app.add_subcommand("fuzz", "random cases against wider arithmetic");
  parent->require_subcommand(1);
  CLI::App* sub = parent->add_subcommand("blas", "every operation of trnblas");
  auto a = std::make_shared<Arguments>();
  sub->add_option("--seconds", a->seconds, "how long")->check(CLI::PositiveNumber)->capture_default_str();
  sub->add_option("--seed", a->seed, "of the first case; the next ones follow")->capture_default_str();
  sub->add_option("--cases", a->cases, "this many cases instead of a time")->check(CLI::NonNegativeNumber);
  sub->add_option("--exec", a->executor, "executor")->capture_default_str();
  sub->add_option("--only", a->only, "one operation, as in blas.trsm without the prefix");
  sub->add_option("--max-extent", a->limits.extent, "largest extent")->check(CLI::PositiveNumber)->capture_default_str();
  sub->add_option("--max-work", a->limits.work, "multiply-adds of one case")->check(CLI::PositiveNumber)->capture_default_str();
  sub->callback([a] { run(*a); });
}

}  // namespace trn::tools
