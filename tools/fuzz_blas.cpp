// `trnsci fuzz blas`: random operations with random sizes, layouts, strides, factors, NaN and infinities, checked
// against sums in wider arithmetic.
#include <fmt/core.h>

#include <trn/core/error.hpp>

#include "fuzz_driver.hpp"
#include "fuzz_support.hpp"
#include "options.hpp"

namespace trn::tools::fuzz {

void report(const Case& c, const std::string& text) { throw Finding{c.what + (c.what.empty() ? "" : ": ") + text}; }

namespace {

struct Arguments {
  Span span;
  std::string executor = "host", only;
  Limits limits;
};

constexpr const char* kTypeNames[] = {"float32", "float64", "complex64", "complex128"};

void run(const Arguments& a) {
  std::vector<FuzzRow> rows;
  for (auto level : {level1(), level2(), level3(), extensions(), narrow()}) {
    for (const FuzzRow& row : level) {
      if (a.only.empty() || a.only == row.name) rows.push_back(row);
    }
  }
  require(!rows.empty(), "fuzz: no operation '{}'", a.only);
  const Executor executor = Executor::open(a.executor);
  const std::string command = fmt::format("trnsci fuzz blas --exec {} --max-extent {} --max-work {}{}", a.executor,
                                          a.limits.extent, a.limits.work, a.only.empty() ? "" : " --only " + a.only);
  drive(a.span, command, [&](std::uint64_t seed, Current& current) {
    Case c(executor, seed, a.limits);
    const FuzzRow& row = rows[static_cast<std::size_t>(c.below(static_cast<std::int64_t>(rows.size())))];
    int type = static_cast<int>(c.below(4));
    if (row.run[type] == nullptr) type = (type + 2) % 4;
    if (row.run[type] == nullptr) type = 0;  // float alone
    current.operation = row.name;
    current.what = fmt::format("{} {}{}", row.name, kTypeNames[type], c.special ? " with NaN and infinities" : "");
    row.run[type](c);
  });
}

}  // namespace

void add_fuzz_blas(Command& parent) {
  Command sub = parent.add("blas", "every operation of trnblas");
  auto a = std::make_shared<Arguments>();
  add_span(sub, a->span);
  sub.text("--exec", a->executor, "executor");
  sub.text("--only", a->only, "one operation, as in blas.trsm without the prefix");
  sub.number("--max-extent", a->limits.extent, "largest extent", 1, kAnyCount);
  sub.number("--max-work", a->limits.work, "multiply-adds of one case", 1, kAnyCount);
  sub.run([a] { run(*a); });
}

}  // namespace trn::tools::fuzz
