// An operation of the suite as the command line sees it: options, its device program, and one benchmark row per
// executor. A new operation adds one file like gemm_operation.cpp and one line to operations.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

#include "options.hpp"

namespace trn::tools {

// Extents by name, in the order of the table: numbers, or text such as "64 x 64".
using BenchShape = std::vector<std::pair<std::string, std::variant<std::int64_t, bool, std::string>>>;

// What rows of trnsolver have in addition.
struct SolverFigures {
  double gemm_equivalents = 0;      // the time in units of a matrix product of order n
  std::optional<double> condition;  // estimate for the matrix; null with --model-only
  std::string outcome;              // "ok", "singular", ...; empty with --model-only
};

// The same keys for every operation. Times in seconds; what does not apply is null in JSON and "-" in the table.
struct BenchRow {
  std::string op, executor, dtype, precision = "native";
  BenchShape shape;
  std::optional<double> seconds;           // measured on this machine (simulator: the time it took to simulate)
  std::optional<double> modelled_seconds;  // simulator only
  double work = 0;                         // of one call, as its library counts what Operation::rate_unit names
  double roof = 0;                         // the most of it in a second; 0: not known
  std::optional<double> bytes;             // read and written by one call, beside other work
  std::optional<double> error, bound;      // largest error against an fp64 reference, and its bound, in the same unit
  std::string note;                        // printed below the table when not empty
  std::optional<double> peer_seconds;      // a direct call of another library in the same run, where there is one
  std::string peer = "OpenBLAS";           // its name
  std::optional<SolverFigures> solver;     // operations of trnsolver only
  std::string refused;                     // why this executor cannot run it, where it cannot: nothing else is set then

  // The time that rates are from: modelled where there is a model. An empty problem takes none and has no rates.
  [[nodiscard]] double time() const { return modelled_seconds ? *modelled_seconds : seconds.value_or(0); }
  [[nodiscard]] double rate() const { return time() > 0 ? work / time() : 0; }  // per second
  [[nodiscard]] double roof_fraction() const { return roof > 0 ? rate() / roof : 0; }
  [[nodiscard]] std::optional<double> byte_rate() const {
    return bytes && time() > 0 ? std::optional(*bytes / time()) : std::nullopt;
  }
};

struct BenchOptions {
  int repeats = 5;
  bool model_only = false;  // simulators: modelled time without arithmetic
  bool cpu_time = false;    // processor time of the calling thread instead of the clock, where the operation can
};

using Programs = std::vector<std::shared_ptr<const tile::Program>>;

class Operation {
 public:
  virtual ~Operation() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  virtual void add_options(Options& options) = 0;
  // Options that mean nothing with the values that the others have: lines and pages that repeat the call leave them
  // out.
  [[nodiscard]] virtual std::vector<std::string> unused_options() const { return {}; }
  // What one call runs on a machine, in order; a program that runs twice is there twice. Throws NotImplemented where
  // the operation has no device kernel.
  [[nodiscard]] virtual Programs programs(const tile::Machine& machine) const {
    return {std::make_shared<const tile::Program>(program(machine))};
  }
  // The row of an executor. Throws NotImplemented where this one cannot run the operation, or has no model that
  // --model-only could ask.
  [[nodiscard]] BenchRow bench(const Executor& executor, const BenchOptions& options) const;
  // Where bench runs unless --exec says otherwise.
  [[nodiscard]] virtual std::vector<std::string> default_executors() const { return {"host", "sim:trn2"}; }
  // What BenchRow::rate counts, and what its error and bound are.
  [[nodiscard]] virtual std::string rate_unit() const { return "GFLOP/s"; }  // or GB/s, Gvalues/s
  [[nodiscard]] virtual std::string error_note() const { return "largest |C - exact| in units of (|A||B|)_ij"; }
  [[nodiscard]] virtual std::string peer_note() const { return ""; }  // what to know about the peer

 protected:
  // Fills the row, which has the names of the operation and of the executor already.
  virtual void fill(BenchRow& row, const Executor& executor, const BenchOptions& options) const = 0;
  // Of operations that run one program: they override this alone.
  [[nodiscard]] virtual tile::Program program(const tile::Machine&) const {
    fail<NotImplemented>("{}: has no device kernel; it runs on the host", name());
  }
};

// One of the different programs of an operation, and how often a call runs it.
struct Step {
  std::shared_ptr<const tile::Program> program;
  int runs = 1;
};
// The modelled time of one call, all programs together.
[[nodiscard]] double modelled_call(const Operation& operation, const tile::Machine& machine);
// In the order of their first runs. `which`: only that one, from 1; 0: all of them. Throws InvalidArgument when there
// are fewer.
void add_step(Options& options, std::int64_t& which);
[[nodiscard]] std::vector<Step> steps(const Operation& operation, const tile::Machine& machine, std::int64_t which = 0);

[[nodiscard]] std::unique_ptr<Operation> gemm_operation();
[[nodiscard]] std::unique_ptr<Operation> gemm_batched_operation();
[[nodiscard]] std::unique_ptr<Operation> trsm_operation();
[[nodiscard]] std::unique_ptr<Operation> trsm_batched_operation();
[[nodiscard]] std::vector<std::unique_ptr<Operation>> narrow_operations();  // 8-bit floats and microscaling
// The table of cases: adds the operations of trnblas that have no command of their own, and gives those that have one
// their peers on the host.
void add_blas_operations(std::vector<std::unique_ptr<Operation>>& all);
[[nodiscard]] std::unique_ptr<Operation> pair_energy_operation();
[[nodiscard]] std::vector<std::unique_ptr<Operation>> vector_operations();  // level 1, gemv, ger
[[nodiscard]] std::vector<std::unique_ptr<Operation>> rand_operations();
[[nodiscard]] std::vector<std::unique_ptr<Operation>> fft_operations();           // plans, and the next
[[nodiscard]] std::vector<std::unique_ptr<Operation>> fft_function_operations();  // dct, convolve, stft
[[nodiscard]] std::vector<std::unique_ptr<Operation>> sparse_operations();
[[nodiscard]] std::vector<std::unique_ptr<Operation>> sparse_direct_operations();
[[nodiscard]] std::vector<std::unique_ptr<Operation>> solver_operations();
[[nodiscard]] std::vector<std::unique_ptr<Operation>> tensor_operations();
[[nodiscard]] std::vector<std::unique_ptr<Operation>> operations();

}  // namespace trn::tools
