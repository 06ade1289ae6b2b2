// Short lines, whole in registers or in steps, on every instruction set: both directions, scaled, in place, several
// lines with gaps that keep their guards.
#include <gtest/gtest.h>

#include "engine_support.hpp"
#include "support/every_target.hpp"

namespace trn::fft::testing {
namespace {

std::vector<Long> inverse_dft(std::vector<Long> x) {
  for (Long& z : x) z = std::conj(z);
  x = oracle_dft(x);
  for (Long& z : x) z = std::conj(z);
  return x;
}

template <class T> void check(std::int64_t n, std::int64_t lines, bool inverse, bool in_place) {
  SCOPED_TRACE("n = " + std::to_string(n) + ", lines = " + std::to_string(lines) + (inverse ? ", inverse" : "") +
               (in_place ? ", in place" : ""));
  const T guard = T(-77.5);
  constexpr std::int64_t margin = 40;
  const std::int64_t in_distance = 2 * n + 6, out_distance = in_place ? in_distance : 2 * n + 10;
  const auto reals = [&](std::int64_t distance) { return static_cast<std::size_t>(lines * distance + 2 * margin); };
  std::vector<T> in(reals(in_distance), guard), out(reals(out_distance), guard);
  std::vector<std::vector<Long>> x;
  for (std::int64_t b = 0; b < lines; ++b) {
    x.push_back(random_points(n, static_cast<std::uint64_t>(1000 * n + b)));
    for (std::int64_t j = 0; j < n; ++j) {
      in[static_cast<std::size_t>(margin + b * in_distance + 2 * j)] =
          static_cast<T>(x.back()[static_cast<std::size_t>(j)].real());
      in[static_cast<std::size_t>(margin + b * in_distance + 2 * j + 1)] =
          static_cast<T>(x.back()[static_cast<std::size_t>(j)].imag());
    }
  }
  const std::vector<T> before = in;
  std::vector<T>& result = in_place ? in : out;
  const double factor = inverse ? 0.5 : 1.0;
  const auto engine = host::make_engine<T>(EngineKind::Complex, n, 1);
  const std::vector<LineBatch> batch{{lines, in_distance, out_distance}};
  T *from = in.data() + margin, *to = result.data() + margin;
  if (const host::DirectLines direct = engine->direct(2, 2, batch, inverse, factor, 1); direct.run) {
    direct.run(direct.context.get(), from, to);
  } else {
    Scratch scratch(engine->scratch_bytes(1));
    const int re = inverse ? 1 : 0, im = 1 - re;
    engine->run({from + re, from + im, 2}, {to + re, to + im, 2}, batch, factor, scratch.get(), 1);
  }
  std::vector<char> element(result.size(), 0);
  for (std::int64_t b = 0; b < lines; ++b) {
    std::vector<Long> got(static_cast<std::size_t>(n)),
        want = inverse ? inverse_dft(x[static_cast<std::size_t>(b)]) : oracle_dft(x[static_cast<std::size_t>(b)]);
    for (std::int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<std::size_t>(margin + b * out_distance + 2 * k);
      element[at] = element[at + 1] = 1;
      got[static_cast<std::size_t>(k)] = {result[at], result[at + 1]};
    }
    for (Long& z : want) z *= factor;
    EXPECT_LE(relative_error(got, want), kRequired<T>) << "line " << b;
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (element[i] == 0) {
      ASSERT_EQ(result[i], guard) << "at " << i;
    }
  }
  if (!in_place) {
    EXPECT_EQ(in, before);
  }
}

TEST(EngineWhole, EveryLengthAndInstructionSet) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 2; n <= 70; ++n) lengths.push_back(n);
  for (const std::int64_t n : {72,  77,  81,  91,  96,  100, 110, 120,  121,  128,  130,  143, 169,
                               180, 225, 240, 256, 300, 360, 512, 1000, 1331, 2048, 2197, 4096})
    lengths.push_back(n);
  const int targets = testing_support::on_every_target([&] {
    for (const std::int64_t n : lengths) {
      for (const bool inverse : {false, true}) {
        check<float>(n, 3, inverse, inverse);
        check<double>(n, 3, inverse, !inverse);
      }
      check<float>(n, 1, false, true);
      check<double>(n, 1, false, false);
      if (::testing::Test::HasFailure()) return;
    }
  });
  EXPECT_GE(targets, 1);
}

}  // namespace
}  // namespace trn::fft::testing
