// Python names for everything a program declares: legal, unique in the whole kernel, and as close to the program's own
// names as those two rules allow.
#pragma once

#include <string>
#include <trn/tile/program.hpp>
#include <vector>

namespace trn::neuron::nki {

struct Names {
  explicit Names(const tile::Program& program);

  std::string kernel;
  std::vector<std::string> tensors;  // by tensor id; an input and the output that continues it share the output's name
  std::vector<std::string> tiles;    // by tile id
  std::vector<std::string> loops;    // by loop id
  std::vector<std::string> bodies;   // by loop id: the function of a device loop
};

}  // namespace trn::neuron::nki
