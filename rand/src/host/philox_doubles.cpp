// cuRAND's doubles of Philox: (x ^ (y << 21)) * 2^-53 + 2^-54 of two words x, y.
//
// The 65536 subsequences take turns, four doubles in each turn, from two of its blocks: words 0,1 and 2,3 of the first,
// then of the second. A generator that starts at the offset o, counted in words, has used up the first block of the
// subsequences below (o mod 2^18) / 4 beyond the o / 2^18 whole rounds, and begins with double o mod 4 of its turn:
// with s0 = o mod 2^18, double i stands at place q = s0 + i, in round q / 2^18, subsequence b = (q mod 2^18) / 4.
#include <algorithm>
#include <vector>

#include "host/blocks.hpp"
#include "host/steps.hpp"

namespace trn::rand::host {

void philox_doubles(const State& state, std::uint64_t index, std::int64_t n, double* out) {
  constexpr std::uint64_t kRound = 4 * philox::kSubsequences;
  constexpr std::int64_t kTurns = 256;  // at a time
  const std::uint64_t s0 = state.origin % kRound;
  const Words4 key = key_of(state.seed);
  std::vector<Words4> blocks(static_cast<std::size_t>(2 * kTurns));
  for (std::int64_t done = 0; done < n;) {
    const std::uint64_t q = s0 + index + static_cast<std::uint64_t>(done);
    const auto skip = static_cast<std::int64_t>(q % 4);
    const std::int64_t turns = std::min(kTurns, (n - done + skip + 3) / 4);
    for (std::int64_t t = 0; t < turns; ++t) {
      const std::uint64_t place = q / 4 + static_cast<std::uint64_t>(t);
      const std::uint64_t round = place / philox::kSubsequences, b = place % philox::kSubsequences;
      const std::uint64_t counter = state.origin / kRound + 2 * round - (b < s0 / 4 ? 1 : 0);
      const std::uint64_t subsequence = philox::kSubsequences * state.stream + b;
      for (std::uint64_t k = 0; k < 2; ++k) {
        blocks[static_cast<std::size_t>(2 * t) + k] = {low_word(counter + k), high_word(counter + k),
                                                       low_word(subsequence), high_word(subsequence)};
      }
    }
    encrypt(Algorithm::Philox4x32_10, blocks.data(), 2 * turns, key, blocks.data());
    const std::int64_t size = std::min(n - done, 4 * turns - skip);
    std::copy_n(reinterpret_cast<const std::byte*>(blocks.data()) + skip * static_cast<std::int64_t>(sizeof(double)),
                size * static_cast<std::int64_t>(sizeof(double)), reinterpret_cast<std::byte*>(out + done));
    convert_words(Draw::OpenClosedDouble, size, out + done);
    done += size;
  }
}

}  // namespace trn::rand::host
