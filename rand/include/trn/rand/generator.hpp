// Generator: a random number generator. cuRAND: curandCreateGenerator, curandSetPseudoRandomGeneratorSeed,
// curandSetGeneratorOffset, curandSetGeneratorOrdering, curandSetQuasiRandomGeneratorDimensions.
//
// Value number n of a generator is a pure function of its state's other fields and n: the same bits on every executor,
// whatever was drawn before and however a draw is cut into pieces. A generator only remembers where to continue.
//
// Pseudo-random algorithms make an endless row of 32-bit words. Word n is
//
//   Philox4x32_10     word n mod 4 of block b = n / 4: key words 0,1 = seed; counter words 0,1 = b / 65536 and words
//                     2,3 = 65536 * stream + b mod 65536, each pair a 64-bit number, low word first. stream < 2^48.
//   Threefry4x32_20   word n mod 4 of block b = n / 4: key words 0,1 = seed, 2,3 = 0; counter words 0,1 = b, 2,3 =
//     stream.
//   Xorwow            step n / 4096 of subsequence 4096 * stream + n mod 4096; subsequences lie 2^67 steps apart.
//                     stream < 2^48.
//   Mrg32k3a          step n / P of subsequence P * stream + n mod P; subsequences lie 2^76 steps apart. P = 81920 in
//                     the default ordering, 4096 in the legacy one. stream < 2^40.
//   Mt19937           8192 twisters 2^2048 steps apart, eight words of each in turn; see src/host/mt19937.hpp. The
//     seed's
//                     lower 32 bits count, as in cuRAND. stream = 0.
//
// Stream 0 of all but Threefry is cuRAND's generator of the same name: its words for the same seed, offset and
// ordering. Two streams of one seed never share a subsequence.
//
// Quasi-random algorithms make points in `dimensions` dimensions, and `position` counts points. A draw of m *
// dimensions values holds coordinate 0 of m points, then coordinate 1, and so on: cuRAND's order. See quasi.hpp.
#pragma once

#include <cstdint>

namespace trn::rand {

enum class Algorithm : std::uint8_t {
  Philox4x32_10,
  Threefry4x32_20,
  Xorwow,
  Mrg32k3a,
  Mt19937,
  Sobol32,
  ScrambledSobol32,
  OwenSobol32,
  Sobol64,
  ScrambledSobol64,
  Halton,
  ScrambledHalton,
};

// cuRAND: CURAND_ORDERING_PSEUDO_DEFAULT and _LEGACY. They differ for Mrg32k3a only; for Philox, Xorwow and Mt19937
// both names mean the same. Threefry and the quasi-random algorithms take Default only.
enum class Ordering : std::uint8_t { Default, Legacy };

// The whole state of a generator, a plain value: to save a generator is to copy this.
struct State {
  Algorithm algorithm = Algorithm::Philox4x32_10;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  std::uint64_t position = 0;  // number of the next word; of the next point for quasi-random algorithms
  Ordering ordering = Ordering::Default;
  std::uint32_t dimensions = 1;  // of quasi-random points; 1 for pseudo-random algorithms
  // Where the doubles of Xorwow and Philox begin to be paired (see uniform.hpp): cuRAND's offset, <= position.
  std::uint64_t origin = 0;
  bool operator==(const State&) const = default;
};

class Generator {
 public:
  // Throws InvalidArgument for a stream, an ordering or dimensions that the algorithm does not have.
  explicit Generator(const State& state = {});
  [[nodiscard]] const State& state() const { return state_; }
  // As if n words (points) were drawn. Throws InvalidArgument, and stays where it is, when the position would pass the
  // algorithm's last: 2^64 - 1, or what last_position says for quasi-random algorithms.
  void skip(std::uint64_t n);

 private:
  State state_;
};

[[nodiscard]] bool is_quasi(Algorithm algorithm);
[[nodiscard]] std::uint64_t last_position(Algorithm algorithm);
[[nodiscard]] const char* name(Algorithm algorithm);  // "philox4x32-10", as the command line spells it

}  // namespace trn::rand
