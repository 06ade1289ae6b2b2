// `trnsci coverage blas`: which operation runs where for which element type, found by calling every one with small
// operands. The table of blas/README.md is this command's output; a test compares them.
#include <fmt/core.h>

#include <trn/core/error.hpp>

#include "blas_case.hpp"
#include "commands.hpp"

namespace trn::tools {

namespace {

constexpr const char* kExecutors[] = {"host", "sim:trn1", "sim:trn2", "sim:trn3"};

constexpr const char* kLetters[] = {"s", "d", "c", "z"};

// The type's letter where the operation runs, with a star where it takes Precision Exact, nothing where there is no
// kernel.
std::string verdict(const BlasRow& row, int type, const Executor& executor) {
  if (row.make[type] == nullptr || (row.scalar && executor.family() == Family::Device)) return "";
  BlasSize size{5, 4, 3, 2};
  for (const Mode mode : {Mode::Native, Mode::Exact}) {
    size.precision = mode;
    try {
      (void)row.make[type](executor, size).call();
      return std::string(kLetters[type]) + (mode == Mode::Native ? "" : "*");
    } catch (const NotImplemented&) {
    }
  }
  return "";
}

void print() {
  fmt::print("| operation | formula |");
  std::vector<Executor> executors;
  for (const char* name : kExecutors) {
    executors.push_back(Executor::open(name));
    fmt::print(" `{}` |", name);
  }
  fmt::print("\n|---|---|---|---|---|---|\n");
  std::vector<BlasRow> rows = blas_rows();
  rows.insert(rows.begin(), blas_gemm_row());
  for (const BlasRow& row : rows) {
    std::string line = fmt::format("| {} | {} |", std::string_view(row.name).substr(5), row.formula);
    for (const Executor& executor : executors) {
      std::string cell;
      for (int type = 0; type < 4; ++type) {
        const std::string one = verdict(row, type, executor);
        if (!one.empty()) cell += " " + one;
      }
      line += (cell.empty() ? " -" : cell) + " |";
    }
    fmt::print("{}\n", line);
  }
}

}  // namespace

void add_coverage(CLI::App& app) {
  CLI::App* coverage = app.add_subcommand("coverage", "which operation runs where, for which types");
  coverage->add_subcommand("blas", "trnblas: a Markdown table")->callback(print);
  coverage->add_subcommand("sparse", "trnsparse: a Markdown table")->callback(print_sparse_coverage);
  coverage->require_subcommand(1);
}

}  // namespace trn::tools
