// Lines by Way::Rows and Way::Columns have the same bits whatever their number, their layout and their neighbours: what
// transforms on several ranks rest on. Values are those of the engines' other tests; here only bits are compared.
#include <gtest/gtest.h>

#include <complex>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "host/engine_way.hpp"

namespace {

using namespace trn::fft;
using host::EngineKind;

// What lies where: `count` lines of `points` elements on a side, as rows or as columns, with a gap after each row.
struct Layout {
  bool columns;
  std::int64_t gap;
};
// Reals from point to point and from line to line.
struct Steps {
  std::int64_t point, line, reals;
};
Steps steps(const Layout& layout, std::int64_t points, std::int64_t count, std::int64_t unit) {
  if (layout.columns) return {unit * (count + layout.gap), unit, unit * (count + layout.gap) * points};
  return {unit, unit * (points + layout.gap), unit * (points + layout.gap) * count};
}

template <class T> class Case {
 public:
  Case(EngineKind kind, std::int64_t n, Way way)
      : in_unit_(kind == EngineKind::RealToHalf ? 1 : 2), out_unit_(kind == EngineKind::HalfToReal ? 1 : 2) {
    in_points_ = kind == EngineKind::HalfToReal ? n / 2 + 1 : n;
    out_points_ = kind == EngineKind::RealToHalf ? n / 2 + 1 : n;
    std::mt19937_64 random(static_cast<std::uint64_t>(n));
    std::uniform_real_distribution<T> real(-1, 1);
    input_.resize(static_cast<std::size_t>(kLines * in_points_ * in_unit_));
    for (T& x : input_) x = real(random);
    factor_ = way == Way::Rows ? 0.3 : 0.5;  // not a power of two: plan.cpp of dist
    few_ = host::make_engine<T>(kind, n, 1, way);
    many_ = host::make_engine<T>(kind, n, kLines, way);
  }
  static constexpr std::int64_t kLines = 40;

  // Lines first .. first + count of the input, packed results.
  std::vector<T> run(std::int64_t first, std::int64_t count, const Layout& layout, bool inverse) const {
    const Steps in = steps(layout, in_points_, count, in_unit_), out = steps(layout, out_points_, count, out_unit_);
    std::vector<T> from(static_cast<std::size_t>(in.reals) + 8, 0), to(static_cast<std::size_t>(out.reals) + 8, 0);
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t l = 0; l < count; ++l)
      for (std::int64_t j = 0; j < in_points_; ++j)
        for (std::int64_t u = 0; u < in_unit_; ++u)
          from[at(l * in.line + j * in.point + u)] = input_[at(((first + l) * in_points_ + j) * in_unit_ + u)];
    const auto& engine = count < 8 ? few_ : many_;
    void* scratch = ::operator new(static_cast<std::size_t>(engine->scratch_bytes(1)) + 64, std::align_val_t(64));
    T *in_im = in_unit_ == 2 ? from.data() + 1 : nullptr, *out_im = out_unit_ == 2 ? to.data() + 1 : nullptr;
    host::Lines a{from.data(), in_im, in.point}, b{to.data(), out_im, out.point};
    if (inverse) std::swap(a.re, a.im), std::swap(b.re, b.im);
    engine->run(a, b, {{count, in.line, out.line}}, factor_, static_cast<std::byte*>(scratch), 1);
    ::operator delete(scratch, std::align_val_t(64));
    std::vector<T> packed;
    for (std::int64_t l = 0; l < count; ++l)
      for (std::int64_t j = 0; j < out_points_; ++j)
        for (std::int64_t u = 0; u < out_unit_; ++u) packed.push_back(to[at(l * out.line + j * out.point + u)]);
    return packed;
  }

  // Lines that differ from those of all lines at once, in rows.
  std::int64_t differences(bool inverse, std::int64_t& cases) const {
    const std::vector<T> all = run(0, kLines, {false, 0}, inverse);
    const std::int64_t reals = out_points_ * out_unit_;
    std::int64_t different = 0;
    for (const Layout& layout : {Layout{false, 0}, Layout{false, 3}, Layout{true, 0}, Layout{true, 1}}) {
      for (const std::int64_t count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 39}) {
        const std::vector<T> some = run(1, count, layout, inverse);
        ++cases;
        different += std::memcmp(some.data(), all.data() + reals, sizeof(T) * some.size()) == 0 ? 0 : 1;
      }
    }
    return different;
  }

 private:
  std::int64_t in_points_ = 1, out_points_ = 1, in_unit_, out_unit_;
  std::shared_ptr<const host::Engine<T>> few_, many_;  // made for so many lines
  double factor_ = 1;
  std::vector<T> input_;
};

template <class T> void check(EngineKind kind, Way way, const char* what) {
  std::int64_t cases = 0;
  std::vector<std::int64_t> bad;
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= 40; ++n) lengths.push_back(n);
  for (const std::int64_t n : {41,  48,  49,  53,  60,  64,  81,  96,  97,  100,  121,  125,  127,  128,  131,  144,
                               192, 210, 243, 256, 289, 320, 509, 512, 600, 1021, 1024, 1536, 2520, 4096, 4099, 5000})
    lengths.push_back(n);
  for (const std::int64_t n : lengths) {
    const Case<T> one(kind, n, way);
    std::int64_t different = 0;
    for (const bool inverse : {false, true})
      if (!inverse || (kind == EngineKind::Complex && n <= 64)) different += one.differences(inverse, cases);
    if (different > 0) bad.push_back(n);
  }
  std::string list;
  for (const std::int64_t n : bad) list += std::to_string(n) + " ";
  EXPECT_TRUE(bad.empty()) << what << ": bits depend on the lines beside for n = " << list;
  std::printf("%s: %lld cases\n", what, static_cast<long long>(cases));
}

TEST(FftWay, RowsHaveTheSameBitsWhateverLiesBeside) {
  check<float>(EngineKind::Complex, Way::Rows, "complex float rows");
  check<double>(EngineKind::Complex, Way::Rows, "complex double rows");
}
TEST(FftWay, ColumnsHaveTheSameBitsWhateverLiesBeside) {
  check<float>(EngineKind::Complex, Way::Columns, "complex float columns");
  check<double>(EngineKind::Complex, Way::Columns, "complex double columns");
}
TEST(FftWay, RealLinesHaveTheSameBitsWhateverLiesBeside) {
  check<float>(EngineKind::RealToHalf, Way::Rows, "real float");
  check<double>(EngineKind::RealToHalf, Way::Rows, "real double");
  check<float>(EngineKind::HalfToReal, Way::Rows, "half float");
  check<double>(EngineKind::HalfToReal, Way::Rows, "half double");
}

}  // namespace
