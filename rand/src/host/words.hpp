// Words of any generator by number: what distributions on the host are made from.
#pragma once

#include <cstdint>
#include <trn/rand/generator.hpp>
#include <vector>

namespace trn::rand::host {

// out[i] = word number state.position + first + i, 0 <= i < n, of a pseudo-random algorithm. Threads share the work
// unless the caller is one of several. Philox and Threefry cost the same at every length; the others find their columns
// first, some tenths of a millisecond (Mt19937: seconds for a new seed), so that long runs are better than many short
// ones.
void words(const State& state, std::uint64_t first, std::int64_t n, std::uint32_t* out);

// The words of one draw, by their number after the state's position: made on the spot by Philox and Threefry, once and
// for all by the others. May be read by several threads.
class DrawWords {
 public:
  // Numbers before .. n - 1 will be asked for; before <= 0, and no number lies before word 0.
  DrawWords(const State& state, std::int64_t before, std::int64_t n);
  void read(std::int64_t first, std::int64_t n, std::uint32_t* out) const;

 private:
  State state_;
  std::int64_t before_;
  std::vector<std::uint32_t> words_;
};

}  // namespace trn::rand::host
