// Generator: which states exist, and how far they reach.
#include <array>
#include <limits>
#include <trn/core/error.hpp>
#include <trn/rand/generator.hpp>
#include <trn/rand/quasi.hpp>

#include "directions.hpp"

namespace trn::rand {

namespace {

struct Row {
  Algorithm algorithm;
  const char* name;
  bool quasi, ordered, seeded;
  int stream_bits;  // streams 0 .. 2^stream_bits - 1
};
constexpr std::array kRows{
    Row{Algorithm::Philox4x32_10, "philox4x32-10", false, true, true, 48},
    Row{Algorithm::Threefry4x32_20, "threefry4x32-20", false, false, true, 64},
    Row{Algorithm::Xorwow, "xorwow", false, true, true, 48},
    Row{Algorithm::Mrg32k3a, "mrg32k3a", false, true, true, 40},
    Row{Algorithm::Mt19937, "mt19937", false, true, true, 0},
    Row{Algorithm::Sobol32, "sobol32", true, false, false, 0},
    Row{Algorithm::ScrambledSobol32, "scrambled-sobol32", true, false, false, 0},
    Row{Algorithm::OwenSobol32, "owen-sobol32", true, false, true, 0},
    Row{Algorithm::Sobol64, "sobol64", true, false, false, 0},
    Row{Algorithm::ScrambledSobol64, "scrambled-sobol64", true, false, false, 0},
    Row{Algorithm::Halton, "halton", true, false, false, 0},
    Row{Algorithm::ScrambledHalton, "scrambled-halton", true, false, true, 0},
};
constexpr bool rows_follow_the_enumeration() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].algorithm) != i) return false;
  }
  return true;
}
static_assert(rows_follow_the_enumeration());

const Row& row(Algorithm algorithm) {
  const auto i = static_cast<std::size_t>(algorithm);
  if (i >= kRows.size()) {
    std::string known;
    for (const Row& r : kRows) known += (known.empty() ? "" : ", ") + std::string(r.name);
    fail<InvalidArgument>("rand.Generator: algorithm {} does not exist; use one of {}", i, known);
  }
  return kRows[i];
}

}  // namespace

bool is_quasi(Algorithm algorithm) { return row(algorithm).quasi; }

const char* name(Algorithm algorithm) { return row(algorithm).name; }

std::uint64_t last_position(Algorithm algorithm) {
  const bool all = !is_quasi(algorithm) || algorithm == Algorithm::Sobol64;
  return all ? std::numeric_limits<std::uint64_t>::max() : std::uint64_t{1} << 32;
}

std::uint32_t max_dimensions(Algorithm algorithm) {
  if (!is_quasi(algorithm)) return 1;
  const bool scrambled = algorithm == Algorithm::ScrambledSobol32 || algorithm == Algorithm::ScrambledSobol64;
  return scrambled ? kScrambledDimensions : kSobolDimensions;
}

Generator::Generator(const State& state) : state_(state) {
  const Row& r = row(state.algorithm);
  require(r.stream_bits > 0 || state.stream == 0,
          "rand.Generator: stream {} with {}, which has stream 0 alone; use Threefry4x32_20 for others", state.stream,
          r.name);
  require(r.stream_bits == 64 || state.stream >> r.stream_bits == 0,
          "rand.Generator: stream {} with {}, which has streams 0 to 2^{} - 1; use Threefry4x32_20 for others",
          state.stream, r.name, r.stream_bits);
  require(state.ordering == Ordering::Default || state.ordering == Ordering::Legacy,
          "rand.Generator: ordering {} does not exist; use Default or Legacy", static_cast<int>(state.ordering));
  require(state.ordering == Ordering::Default || r.ordered,
          "rand.Generator: {} has one ordering; leave State::ordering at Default", r.name);
  require(state.dimensions == 1 || r.quasi,
          "rand.Generator: {} dimensions with {}, which makes single numbers; use 1, or a quasi-random algorithm",
          state.dimensions, r.name);
  require(state.dimensions >= 1 && state.dimensions <= max_dimensions(state.algorithm),
          "rand.Generator: {} dimensions with {}, which has 1 to {}", state.dimensions, r.name,
          max_dimensions(state.algorithm));
  require(state.seed == 0 || r.seeded, "rand.Generator: seed {} with {}, which is not seeded; use 0, or owen-sobol32",
          state.seed, r.name);
  require(state.origin == 0 || !r.quasi, "rand.Generator: origin {} with {}, whose position counts points; use 0",
          state.origin, r.name);
  require(state.position <= last_position(state.algorithm),
          "rand.Generator: position {} with {}, which has points 0 to {}", state.position, r.name,
          last_position(state.algorithm) - 1);
  require(state.origin <= state.position,
          "rand.Generator: origin {} lies after position {}; give an origin up to there", state.origin, state.position);
}

void Generator::skip(std::uint64_t n) {
  require(n <= last_position(state_.algorithm) - state_.position,
          "rand.Generator: position {} + {} values exceeds 2^{}; take another stream or seed", state_.position, n,
          is_quasi(state_.algorithm) && last_position(state_.algorithm) >> 32 == 1 ? "32" : "64 - 1");
  state_.position += n;
}

}  // namespace trn::rand
