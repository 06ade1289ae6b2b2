// The fake's NEFF: the documented header, and a tar with program.json, manifest.json and, where the text
// is to be run, kernel.py, as tests/fake_toolchain and
// support/fake_neff.hpp write it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "neff/neff.hpp"
#include "sim/run.hpp"

namespace fake {

struct Package {
  trn::neuron::neff::Header header;
  trn::neuron::neff::Manifest manifest;
  std::unique_ptr<trn::neuron::sim::Prepared> prepared;
  const trn::tile::Machine* machine = nullptr;
  std::string text;  // kernel.py; empty: the NEFF has none
};

// Throws std::exception for anything that is not one.
[[nodiscard]] Package unpack(std::span<const std::byte> neff);

}  // namespace fake
