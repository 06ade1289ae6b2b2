// `trnsci coverage blas`, `trnsci coverage solver`: which operation runs where for which element type, found by calling
// every one with small operands. The tables of blas/README.md and solver/README.md are this command's output; a test
// compares them.
#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include <trn/core/error.hpp>

#include "blas_case.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "solver_symbols.hpp"

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

// Letters of the types for which a probe runs.
std::string letters(SolverProbe probe, const Executor& executor) {
  std::string cell;
  for (int type = 0; type < 4; ++type) {
    try {
      probe(executor, type);
      cell += std::string(cell.empty() ? "" : " ") + kLetters[type];
    } catch (const NotImplemented&) {
    }
  }
  return cell.empty() ? "-" : cell;
}

// "`SDCZpotrf`+ `Xpotrf`+", the + for the function that asks for the workspace.
std::string shown(const std::string& symbols) {
  std::string text;
  for (std::size_t begin = 0; begin < symbols.size();) {
    const std::size_t end = std::min(symbols.find(' ', begin), symbols.size());
    std::string group = symbols.substr(begin, end - begin), plus;
    if (group.back() == '+') group.pop_back(), plus = "+";
    const std::size_t colon = group.find(':');
    const std::string front = group.substr(0, colon), name = group.substr(colon + 1);
    const std::string brackets = front == "-" ? "" : front.size() == 1 ? front : "[" + front + "]";
    text += (text.empty() ? "`" : " `") + brackets + name + "`" + plus;
    begin = end + 1;
  }
  return text;
}

void print_solver(bool every) {
  const std::vector<SymbolRow>& rows = solver_symbol_rows();
  std::vector<Executor> executors;
  for (const char* name : kExecutors) executors.push_back(Executor::open(name));
  if (!every) {
    fmt::print("| cuSOLVER, without `cusolverDn` | trnsolver |");
    for (const char* name : kExecutors) fmt::print(" `{}` |", name);
    fmt::print("\n|---|---|---|---|---|---|\n");
  }
  std::size_t offered = 0, all = 0;
  for (const SymbolRow& row : rows) {
    const std::vector<std::string> names = expand_symbols(row.symbols);
    const std::string ours = row.ours;
    all += names.size();
    if (ours != "-") offered += names.size();
    std::string cells, status;
    for (std::size_t e = 0; e < executors.size(); ++e) {
      const std::string cell = row.probe ? letters(row.probe, executors[e]) : "";
      cells += " " + cell + (cell.empty() ? "|" : " |");
      if (row.probe && cell != "-") status += (status.empty() ? "" : ", ") + fmt::format("{}: {}", kExecutors[e], cell);
    }
    if (!row.probe) status = ours == "-" ? "not offered" : "no kernel of its own";
    if (!every) fmt::print("| {} | {} |{}\n", shown(row.symbols), ours, cells);
    if (!every) continue;
    for (const std::string& name : names) fmt::print("cusolverDn{}\t{}\t{}\n", name, ours, status);
  }
  if (every) return;
  fmt::print("\n{} of the {} functions of cusolverDn.h (CUDA 13) have a counterpart.\n", offered, all);
}

constexpr const char* kTypeLetters = "s, d, c, z: float32, float64, complex64, complex128; -: no kernel";
constexpr const char* kExactAlone = "*: with --precision exact only";
constexpr const char* kWorkspace = "name+: also the function that asks for the size of its workspace";

// A library's table; what its letters and signs mean stands in --help and, with --explain, below the table.
Command add_table(Command& coverage, const std::string& library, const std::string& summary,
                  const std::vector<const char*>& signs, const std::function<void()>& table) {
  std::string text = summary + ", a Markdown table";
  for (const char* sign : signs) text += std::string("; ") + sign;
  Command sub = coverage.add(library, text);
  sub.explain();
  sub.run([signs, table] {
    table();
    if (!explained()) return;
    fmt::print("\n");
    for (const char* sign : signs) legend("{}", sign);
  });
  return sub;
}

}  // namespace

void add_coverage(Command& program) {
  Command coverage = program.add("coverage", "which operation runs where, for which types");
  coverage.needs_one("library");
  add_table(coverage, "blas", "trnblas", {kTypeLetters, kExactAlone}, print);
  add_table(coverage, "sparse", "trnsparse", {kTypeLetters}, print_sparse_coverage);
  auto every = std::make_shared<bool>(false);
  Command solver = add_table(coverage, "solver", "trnsolver: cuSOLVER's dense functions", {kTypeLetters, kWorkspace},
                             [every] { print_solver(*every); });
  solver.flag("--symbols", *every, "one line for each function instead: name, counterpart, where it runs");
  add_table(coverage, "tensor", "trntensor", {kExactAlone}, print_tensor_coverage);
}

}  // namespace trn::tools
