// The timing model against published hardware measurements: programs that reproduce the published kernels, their modelled
// times, and the ratios. `trnsci validate` prints this table; a test holds it.
#pragma once

#include <string>
#include <vector>

namespace trn::neuron {

enum class Quantity { Total, TensorActive, DmaActive };  // what the publication measured

struct ValidationRow {
  std::string name;
  std::string machine;
  std::string source;         // where the measurement was published
  Quantity quantity = Quantity::Total;
  double measured_us = 0;
  double modelled_us = 0;
  bool goal = true;           // false: shown for completeness, not part of the 15 % goal
  std::string note;           // what the program assumes, or why the row is off
  [[nodiscard]] double ratio() const { return modelled_us / measured_us; }
};

[[nodiscard]] std::vector<ValidationRow> validate_timing();

}  // namespace trn::neuron
