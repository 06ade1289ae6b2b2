// Device programs by one line of text: an operation and its options as `trnsci emit` takes them, or a saved file.
#pragma once

#include <string>
#include <vector>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::tools {

//   blas.gemm --m 512 --n 512 --k 512 --dtype bf16
//   file scale.json                              saved by `trnsci dis ... --save`, or by an executor that missed it
// All the different programs of an operation that runs several; --step N takes one of them.
[[nodiscard]] std::vector<tile::Program> programs_of_line(const std::string& line, const tile::Machine& machine);

struct Line {
  std::string text;
  int number = 0;  // in its file
};
// The lines of a file without comments (#) and empty ones; of a folder, the programs saved in it. Throws
// InvalidArgument.
[[nodiscard]] std::vector<Line> read_lines(const std::string& path);

}  // namespace trn::tools
