// `trnsci scale`: an operation on many ranks, modelled. One rank's device programs are built and estimated by the
// simulator's timing model; what moves between ranks is priced by tile::Fabric. Nothing runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <trn/neuron/sim.hpp>
#include <trn/tile/fabric.hpp>

#include "options.hpp"

namespace trn::tools::scale {

struct Setting {
  const tile::Fabric& fabric;
  const tile::Machine& machine;
  tile::Placement placement;
  double eta;
};

struct Result {
  double seconds = 0;
  double compute_s = 0;        // of one rank's programs
  double communication_s = 0;  // before what is hidden behind programs
  double bytes = 0;            // into one rank
  double memory = 0;           // of one rank, bytes
  std::string binding;         // what decides: an engine, "HBM stack", "chip links", "EFA", ...
  std::string note = {};
};

// A program's time on a core whose stack serves others that do the same: what the engines take, or what the stack
// gives. `times` pieces of the same kind in one launch.
struct LaunchTime {
  double seconds = 0;
  std::string binding;
};

// Estimates of programs, kept by name: curves ask for the same ones again and again.
class Kernels {
 public:
  // One launch of a program that does `times` as much as the one that `build` makes.
  template <class F> LaunchTime run(const std::string& key, const Setting& s, F build, double times = 1) {
    const auto found = reports_.find(key);
    if (found != reports_.end()) return launch_time(found->second, s, times);
    neuron::RunReport sum;
    for (const neuron::RunReport& r : build()) add(sum, r);
    return launch_time(reports_.emplace(key, sum).first->second, s, times);
  }
  static std::vector<neuron::RunReport> one(const tile::Program& program, const tile::Machine& machine) {
    return {neuron::estimate(program, machine)};
  }

 private:
  static void add(neuron::RunReport& sum, const neuron::RunReport& r);
  static LaunchTime launch_time(const neuron::RunReport& r, const Setting& s, double times);
  std::map<std::string, neuron::RunReport> reports_;
};

class Operation {
 public:
  virtual ~Operation() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  virtual void add_options(Options& options) = 0;
  // Checked once, after the options are read.
  virtual void check() const {}
  [[nodiscard]] virtual std::string shape() const = 0;
  [[nodiscard]] virtual std::string dtype() const { return "fp32"; }
  [[nodiscard]] virtual Result model(const Setting& setting) = 0;
  // The same operation as large as `chips` chips want it, and how much more work that is.
  [[nodiscard]] virtual std::unique_ptr<Operation> weak(double chips) const = 0;
  [[nodiscard]] virtual double work() const = 0;
  [[nodiscard]] virtual const char* unit() const { return "time"; }

 protected:
  std::shared_ptr<Kernels> kernels_ = std::make_shared<Kernels>();
};

[[nodiscard]] std::vector<std::unique_ptr<Operation>> operations();
[[nodiscard]] std::unique_ptr<Operation> gemm();
[[nodiscard]] std::unique_ptr<Operation> cholesky();
[[nodiscard]] std::unique_ptr<Operation> syrk();
[[nodiscard]] std::unique_ptr<Operation> trsm();
[[nodiscard]] std::unique_ptr<Operation> lu();
[[nodiscard]] std::unique_ptr<Operation> qr();
[[nodiscard]] std::unique_ptr<Operation> fft();
[[nodiscard]] std::unique_ptr<Operation> conjugate_gradients();
[[nodiscard]] std::unique_ptr<Operation> mp2();
[[nodiscard]] std::unique_ptr<Operation> rand();
[[nodiscard]] std::unique_ptr<Operation> redistribute();

// Ranks as rows x columns of a matrix, level by level: cores of a chip, chips of an instance, instances of a node,
// nodes.
struct LevelGrid {
  struct Level {
    int rows = 1, columns = 1;
  };
  Level core, chip, instance, node;
  [[nodiscard]] std::int64_t rows() const { return std::int64_t{core.rows} * chip.rows * instance.rows * node.rows; }
  [[nodiscard]] std::int64_t columns() const {
    return std::int64_t{core.columns} * chip.columns * instance.columns * node.columns;
  }
};
// What comes into one unit of each level when every rank needs `left` bytes, all of its rows of the grid, and `right`,
// all of its columns: the broadcasts of a SUMMA product.
[[nodiscard]] tile::Traffic summa_traffic(const LevelGrid& grid, double left, double right);
// The grid with the least time for these bytes of the whole left and right operand.
[[nodiscard]] LevelGrid best_grid(const Setting& setting, double left, double right);

struct CurvePoint {
  int chips, nodes;
  Result eta, one;  // as asked for, and with eta = 1
  double efficiency = 0, efficiency_one = 0;
};
struct Curve {
  std::string title;
  std::vector<CurvePoint> points;
};
// The subcommand and its operations.
void add(Command& program);
// The curves as one HTML page.
// The first lines of a report page: what was asked for and of which machine.
using Facts = std::vector<std::pair<std::string, std::string>>;
void write_page(const std::string& path, const std::string& title, const Facts& facts,
                const std::vector<std::string>& lines, const std::vector<Curve>& curves, double eta);

}  // namespace trn::tools::scale
