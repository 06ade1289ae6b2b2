// Small device programs of silicon-check: one that the contract is tried with, eight for the compiler, and those whose
// time shows one constant of the model each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <trn/tile/builder.hpp>

namespace trn::tools::silicon {

// y = 2 x + 1 for 128 x `columns` float32.
[[nodiscard]] tile::Program line_program(const tile::Machine& machine, std::int64_t columns);

// y = x, after this many seconds of work by the model.
[[nodiscard]] tile::Program long_program(const tile::Machine& machine, std::int64_t columns, double seconds);

// Different things that a compiler may refuse: loops, aliases, strides, dtypes, matmuls, gathers, device loops.
[[nodiscard]] std::vector<std::pair<std::string, tile::Program>> toolchain_kernels(const tile::Machine& machine);

// The constant of the first timed kernel, which is a part of the time of all others.
inline constexpr const char* kLaunchConstant = "launch and finish";
// A program with no input but "x" and no output but "y", both float32.
struct TimedKernel {
  std::string name;
  tile::Program program;
  std::string constant;  // of the timing model that it shows; "" for none
  double value_s = 0;    // what it is now
  double count = 1;      // how often it enters the program's time
  int choice = 0;        // number in docs/simulator.md; 0 for none
};
[[nodiscard]] std::vector<TimedKernel> timed_kernels(const tile::Machine& machine);

}  // namespace trn::tools::silicon
