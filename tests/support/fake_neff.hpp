// A program as a NEFF that the fake runtime loads, made in the test's own process: what tests/fake_toolchain does by
// way of files and a worker, in microseconds.
#pragma once

#include "nrt/model.hpp"

namespace trn::neuron::testing {

struct FakeNeff {
  std::vector<std::byte> bytes;
  neff::Manifest manifest;
};
// `lnc` and `major` go into the header; `text`: with the emitted kernel, for the fake's rule `text`.
[[nodiscard]] FakeNeff fake_neff(const tile::Program& program, int lnc = 1, int major = 1, bool text = false);
// The source of a device's compiled programs.
[[nodiscard]] nrt::NeffSource fake_source(bool text = false);

}  // namespace trn::neuron::testing
