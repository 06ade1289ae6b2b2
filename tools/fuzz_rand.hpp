// What the cases of `trnsci fuzz rand` share: a random state and random parameters, and the checks that hold for every
// draw.
//
//   pieces    value i depends on (algorithm, seed, stream, number i) alone: any way to cut a draw, with states saved
//     and
//             restored, with skip in the place of draws, with another number of threads, gives the same bits
//   views     strides, negative or with gaps, and any stride of an extent of 1; nothing beside the elements is written
//   refusals  InvalidArgument of one line that changes neither output nor generator, and only where a parameter is wild
//   values    inside the support of the distribution, never NaN
//   device    the host's bits, or within the stated difference
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/rand/generator.hpp>
#include <trn/rand/transform_program.hpp>

#include "fuzz_driver.hpp"
#include "fuzz_random.hpp"

namespace trn::tools::fuzz::rand {

using trn::rand::Algorithm;
using trn::rand::Generator;
using trn::rand::State;

// A case: its random choices, the words that describe it, and whether a refusal is due or at least allowed.
struct Case {
  Random random;
  Current& current;
  bool wild = false;  // a parameter at or beyond its limits: refusing is allowed
  bool on_device = false;
  bool refused = false;  // NaN among the parameters, or a sign that no domain has: refusing is due

  template <class... Args> void say(fmt::format_string<Args...> text, Args&&... args) {
    current.what += " " + fmt::format(text, std::forward<Args>(args)...);
  }
  template <class... Args> [[noreturn]] void report(fmt::format_string<Args...> text, Args&&... args) const {
    throw Finding{fmt::format(text, std::forward<Args>(args)...)};
  }

  // A parameter of ordinary size, or one at the ends of what a double is.
  double real(const char* name, double low, double high);
  double positive(const char* name, double low, double high);  // all magnitudes alike
  double probability(const char* name);
  std::int64_t count(const char* name, std::int64_t most);
  // A position near what the generators count by, or anywhere, with room for `words` words behind it.
  std::uint64_t position(std::uint64_t words);
};

enum class Source : std::uint8_t { Pseudo, Element, Points };  // which algorithms a draw takes

template <class T> struct Drawing {
  std::function<void(const Executor&, Generator&, const View<T>&)> call;
  std::function<bool(T)> fits;  // the support
  Source source = Source::Pseudo;
  std::int64_t row = 1;                          // elements that belong together
  bool pieces = true;                            // the draw can be cut
  bool device = false;                           // algorithms that devices have, have this draw there
  std::optional<trn::rand::Transform> law = {};  // then the host's value within a bound; otherwise its bits
  std::function<void(Case&, const State&, const std::vector<T>&)> formula = {};  // against long double
};

template <class T> std::string bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return fmt::format("{} ({:#x})", value, bits);
}

template <class T>
void expect_same(const Case& c, const char* what, const std::vector<T>& got, const std::vector<T>& want) {
  if (got.size() != want.size()) c.report("{}: {} values instead of {}", what, got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0)
      c.report("{}: value {} of {} is {} instead of {}", what, i, got.size(), bits_of(got[i]), bits_of(want[i]));
  }
}

State random_state(Case& c, Source source, std::int64_t values);
[[nodiscard]] bool runs_on_devices(Algorithm algorithm);

// The generator's draw of `n` elements as a contiguous array on `e`.
template <class T> std::vector<T> draw(const Executor& e, Generator& g, const Drawing<T>& d, std::int64_t n) {
  const Array<T> out(e, d.row > 1 ? Shape{n / d.row, d.row} : Shape{n});
  d.call(e, g, out.view());
  return out.to_host();
}

// n values in pieces of whole rows or points; a piece of points is put where its coordinates belong.
template <class T> std::vector<T> in_pieces(Case& c, Generator& g, const Drawing<T>& d, std::int64_t n) {
  const std::int64_t unit = d.source == Source::Points ? g.state().dimensions : d.row, units = n / unit;
  std::vector<T> all(static_cast<std::size_t>(n));
  for (std::int64_t done = 0; done < units;) {
    const std::int64_t take = std::min(units - done, c.random.chance(3) ? 1 + c.random.below(4) : c.random.size(units));
    if (c.random.chance(3)) g = Generator(g.state());
    const std::vector<T> part = draw(Executor::host(), g, d, take * unit);
    if (d.source == Source::Points) {
      for (std::int64_t k = 0; k < unit; ++k)
        std::copy_n(part.begin() + k * take, take, all.begin() + k * units + done);
    } else {
      std::copy(part.begin(), part.end(), all.begin() + done * unit);
    }
    done += take;
  }
  return all;
}

// A view of n elements in random extents and strides inside guarded memory.
struct Layout {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0, size = 0;
};
Layout random_layout(Case& c, std::int64_t n, std::int64_t row);

template <class T> void check_views(Case& c, const State& begin, const Drawing<T>& d, const std::vector<T>& expected) {
  const Layout layout = random_layout(c, static_cast<std::int64_t>(expected.size()), d.row);
  std::vector<T> memory(static_cast<std::size_t>(layout.size));
  std::memset(memory.data(), 0x5a, memory.size() * sizeof(T));
  std::vector<T> want = memory;
  std::vector<std::int64_t> index(layout.shape.size());
  for (const T& value : expected) {
    std::int64_t at = layout.offset;
    for (std::size_t k = 0; k < index.size(); ++k) at += index[k] == 0 ? 0 : index[k] * layout.strides[k];
    want[static_cast<std::size_t>(at)] = value;
    for (std::size_t k = index.size(); k-- > 0;) {
      if (++index[k] < layout.shape[k]) break;
      index[k] = 0;
    }
  }
  Generator g(begin);
  const std::string what = fmt::format("view {} strides {}", to_string(layout.shape), to_string(layout.strides));
  d.call(Executor::host(), g, View<T>(Executor::host(), memory.data() + layout.offset, layout.shape, layout.strides));
  expect_same(c, what.c_str(), memory, want);
}

template <class T> void check_device(Case& c, const State& begin, const Drawing<T>& d, const std::vector<T>& expected) {
  const Executor e = Executor::open(c.random.pick({"sim:trn1", "sim:trn2", "sim:trn3"}));
  c.say("also on {}", e.name());
  const Recorder recorder(e);
  Generator g(begin);
  const std::vector<T> values = draw(e, g, d, static_cast<std::int64_t>(expected.size()));
  if (!(recorder.modelled_seconds() > 0)) c.report("no device kernel ran");
  if (!d.law) return expect_same(c, "device", values, expected);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<double>(values[i]), y = static_cast<double>(expected[i]);
    const double bound = trn::rand::device_difference_bound(*d.law, y);
    if (!(std::abs(x - y) <= bound) && !(x == y))
      c.report("device: value {} is {} and the host's {}: {} of the bound", i, bits_of(values[i]), bits_of(expected[i]),
               std::abs(x - y) / bound);
  }
  c.on_device = true;
  if (d.formula) d.formula(c, begin, values);
}

// Everything above for one draw with its parameters.
template <class T> void check(Case& c, const Drawing<T>& d) {
  State begin = random_state(c, d.source, 70'000);
  const bool devices = d.device && runs_on_devices(begin.algorithm) && c.random.chance(2);
  const std::int64_t unit = d.source == Source::Points ? begin.dimensions : d.row;
  const std::int64_t n = unit * c.random.size(std::max<std::int64_t>(1, (devices              ? 3000
                                                                         : c.random.chance(8) ? 60'000
                                                                                              : 4000) /
                                                                            unit));
  c.say("{} seed {} stream {} position {} origin {} ordering {} dimensions {} n {}", name(begin.algorithm), begin.seed,
        begin.stream, begin.position, begin.origin, static_cast<int>(begin.ordering), begin.dimensions, n);
  Generator g(begin);
  const Array<T> out(Executor::host(), d.row > 1 ? Shape{n / d.row, d.row} : Shape{n});
  std::memset(static_cast<void*>(out.data()), 0x5a, static_cast<std::size_t>(n) * sizeof(T));
  const std::vector<T> before = out.to_host();
  try {
    d.call(Executor::host(), g, out.view());
  } catch (const NotImplemented& e) {
    c.report("not implemented: {}", e.what());
  } catch (const InvalidArgument& e) {
    if (!c.wild) c.report("refused: {}", e.what());
    if (std::string(e.what()).find('\n') != std::string::npos) c.report("a message of several lines: {}", e.what());
    if (!(g.state() == begin)) c.report("a refused draw moved the generator");
    return expect_same(c, "a refused draw wrote", out.to_host(), before);
  }
  if (c.refused) c.report("a parameter outside its domain was accepted");
  const std::vector<T> whole = out.to_host();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (!(whole[i] == whole[i]) || (d.fits && !d.fits(whole[i])))
      c.report("value {} is {}, outside the support", i, bits_of(whole[i]));
  }
  if (d.formula) d.formula(c, begin, whole);
  if (d.pieces) {
    Generator parts(begin);
    expect_same(c, "pieces", in_pieces(c, parts, d, n), whole);
    if (!(parts.state() == g.state()))
      c.report("pieces end at position {} instead of {}", parts.state().position, g.state().position);
    Generator later(begin), first(begin);
    const std::int64_t units = n / unit, split = c.random.below(units);
    if (split > 0 && d.source != Source::Points) {
      (void)draw(Executor::host(), first, d, split * unit);
      later.skip(first.state().position - begin.position);
      expect_same(c, "after skip", draw(Executor::host(), later, d, n - split * unit),
                  {whole.begin() + split * unit, whole.end()});
    }
  }
  if (c.random.chance(2)) check_views(c, begin, d, whole);
  if (c.random.chance(4)) {
    const int threads = omp_get_max_threads();
    omp_set_num_threads(c.random.pick({1, 2, 3, 5}));
    Generator again(begin);
    const std::vector<T> values = draw(Executor::host(), again, d, n);
    omp_set_num_threads(threads);
    expect_same(c, "another number of threads", values, whole);
  }
  if (devices) check_device(c, begin, d, whole);
}

struct Row {
  const char* name;
  void (*run)(Case&);
};
[[nodiscard]] std::vector<Row> words();       // raw32, raw64, uniform: fuzz_rand_words.cpp
[[nodiscard]] std::vector<Row> transforms();  // fixed words per value: fuzz_rand_words.cpp
[[nodiscard]] std::vector<Row>
distributions();  // words of the element, orders and choices: fuzz_rand_distributions.cpp

}  // namespace trn::tools::fuzz::rand
