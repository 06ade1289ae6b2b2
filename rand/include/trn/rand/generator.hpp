// Generator: a counter-based random number generator. cuRAND: curandCreateGenerator,
// curandSetPseudoRandomGeneratorSeed, curandSetGeneratorOffset.
//
// Value number n of (algorithm, seed, stream) is a pure function of those four: the same bits on every executor,
// whatever was drawn before and however a draw is cut into pieces. A generator only remembers where to continue.
//
// Both algorithms make four 32-bit words at a time: value n is word n mod 4 of block b = n / 4.
//
//   Philox4x32_10     key words 0,1 = seed; counter words 0,1 = b / 65536 and words 2,3 = 65536 * stream + b mod 65536,
//                     each pair a 64-bit number, low word first. Stream 0 is cuRAND's CURAND_RNG_PSEUDO_PHILOX4_32_10
//                     in its default order: cuRAND interleaves 65536 subsequences, whose number is the upper half of
//                     the counter. Stream s takes the subsequences from 65536 s on, so streams never share a block.
//                     stream < 2^48.
//   Threefry4x32_20   key words 0,1 = seed, 2,3 = 0; counter words 0,1 = b, 2,3 = stream.
#pragma once

#include <cstdint>

namespace trn::rand {

enum class Algorithm : std::uint8_t { Philox4x32_10, Threefry4x32_20 };

// The whole state of a generator, a plain value: to save a generator is to copy this.
struct State {
  Algorithm algorithm = Algorithm::Philox4x32_10;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  std::uint64_t position = 0;  // number of the next value
  bool operator==(const State&) const = default;
};

class Generator {
 public:
  // Throws InvalidArgument for a stream that the algorithm does not have.
  explicit Generator(const State& state = {});
  [[nodiscard]] const State& state() const { return state_; }
  // As if n values were drawn. Throws InvalidArgument, and stays where it is, when the position would pass 2^64 - 1.
  void skip(std::uint64_t n);

 private:
  State state_;
};

}  // namespace trn::rand
