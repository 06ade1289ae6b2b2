// What every family of `trnsci fuzz` shares: cases from consecutive seeds until the time is up, counts, and one line
// that repeats a failing case.
//
// A case is a function of its seed. It names itself in Current::operation and Current::what as soon as it knows, and
// throws Finding when a result is wrong. NotImplemented counts apart as refused; any other exception is a finding. An
// operation that was tried and never once succeeded fails the run: a fuzzer that tests nothing must not look like one
// that finds nothing. The repeating line is also written when the process dies by a signal,
// as it does when a case hangs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "options.hpp"

namespace trn::tools::fuzz {

// Thrown when a result is wrong.
struct Finding {
  std::string text;
};

// The options that all families have.
struct Span {
  double seconds = 10;
  std::uint64_t seed = 1;
  std::int64_t cases = 0;  // 0: as many as fit the time
};
void add_span(Options& options, Span& span);

struct Current {
  std::string operation;  // counted apart from the others
  std::string what;       // operation and arguments, for the report
};
// `command` repeats a case when " --seed S --cases 1" follows: "trnsci fuzz blas --exec host". Prints the counts, or
// throws Error with the finding.
void drive(const Span& span, const std::string& command,
           const std::function<void(std::uint64_t seed, Current& current)>& run);

// One function per family: adds its subcommand to `trnsci fuzz`. Listed in fuzz.cpp.
void add_fuzz_blas(Command& parent);
void add_fuzz_exact(Command& parent);
void add_fuzz_fft(Command& parent);
void add_fuzz_files(Command& parent);
void add_fuzz_proofs(Command& parent);
void add_fuzz_rand(Command& parent);
void add_fuzz_solver(Command& parent);
void add_fuzz_sparse(Command& parent);
void add_fuzz_tensor(Command& parent);
void add_fuzz_tile(Command& parent);

}  // namespace trn::tools::fuzz
