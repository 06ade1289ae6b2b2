// The timing model against published hardware measurements: programs that reproduce the published kernels, their
// modelled times, and the ratios. `trnsci validate` prints this table; a test holds it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <trn/tile/program.hpp>

namespace trn::neuron {

// What the publication measured: a profiler's total, the latency a benchmark reports, or an engine's active time.
enum class Quantity { Total, Latency, TensorActive, DmaActive };

// Fitted: a constant of the model was chosen so that this row comes out. Predicted: the model never saw it.
enum class RowKind { Fitted, Predicted };
[[nodiscard]] std::string_view name(RowKind kind);  // "fitted", "predicted"

struct ValidationRow {
  std::string name;
  std::string machine;
  std::string source;  // where the measurement was published
  Quantity quantity = Quantity::Total;
  RowKind kind = RowKind::Predicted;
  double measured_us = 0;
  double modelled_us = 0;   // instructions in the order of the program
  double reordered_us = 0;  // in an order a compiler may choose (tile::reorder); 0 where the program is too long for it
  std::string note;         // what the program assumes, or why the row is off
  bool goal = true;         // counts for the goal; collectives: not an outlier
  [[nodiscard]] double ratio() const { return modelled_us / measured_us; }
};

[[nodiscard]] std::vector<ValidationRow> validate_timing();

// The programs of a machine's rows that publish a total or a latency, to be run: the sum of their times is the row's.
struct ValidationPrograms {
  std::string name;
  double measured_us = 0;  // as published
  std::vector<tile::Program> programs;
};
[[nodiscard]] std::vector<ValidationPrograms> validation_programs(std::string_view machine);

// The same for published times of collective operations and the costs of tile::Fabric, outliers included.
[[nodiscard]] std::vector<ValidationRow> validate_collectives();

// Of |ratio - 1| over the rows of one kind.
struct Deviation {
  int rows = 0;
  double median = 0, largest = 0;
};
[[nodiscard]] Deviation deviation(const std::vector<ValidationRow>& rows, RowKind kind);

}  // namespace trn::neuron
