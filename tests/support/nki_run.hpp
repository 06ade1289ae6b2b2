// Runs one program twice, as emitted NKI text in the NumPy stand-in and in the simulator, and compares the outputs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <trn/neuron/nki.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/program.hpp>

namespace trn::neuron::testing {

// Values of an input by element number in row-major order of its shape; inputs without one get seeded random values.
using Values = std::function<double(std::int64_t)>;
using Inputs = std::map<std::string, Values>;

// Every output element equal bit for bit (any NaN equals any NaN), or for ulps > 0 float32 within that many ulps.
// The text is also held against the documented signatures while it runs.
void expect_agreement(const tile::Program& program, const Inputs& inputs = {}, std::int64_t ulps = 0,
                      const NkiOptions& options = {});

// Python's own parser takes the text.
void expect_python_accepts(const std::string& text);

// The emitted text equals a file of the repository, the program's hash left out: it covers every field of every struct.
// With TRN_UPDATE_GOLDEN=1 in the environment the file is rewritten instead.
void expect_golden(const tile::Program& program, const std::string& file);

// A program in one breath: inputs loaded whole into SBUF tiles, tiles stored whole into outputs.
class Kernel {
 public:
  explicit Kernel(const char* machine, const char* name = "kernel") : b(name, tile::machine(machine)) {}

  tile::Builder b;

  tile::Access load(const std::string& name, DType dtype, std::int64_t partitions, const Shape& free);
  tile::Access tile(const std::string& name, DType dtype, std::int64_t partitions, const Shape& free) {
    return b.sbuf(name, partitions, free, dtype);
  }
  void store(const std::string& name, const tile::Access& source);
};

}  // namespace trn::neuron::testing
