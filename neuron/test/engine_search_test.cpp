// The Vector Engine's searches against plain loops: max8, nc_find_index8, nc_match_replace8.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

using enum DType;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNone16 = 65535, kNone32 = 4294967295.0;

Values row_of(const Values& all, std::int64_t row, std::int64_t n) {
  return {all.begin() + row * n, all.begin() + (row + 1) * n};
}
float fp32(double value) { return static_cast<float>(value); }

// Eight times the first element that none is larger than; NaN is larger than every number.
Values largest_of(Values x) {
  Values best;
  for (int round = 0; round < 8; ++round) {
    std::size_t at = 0;
    for (std::size_t i = 1; i < x.size(); ++i) {
      const bool larger = (std::isnan(x[i]) && !std::isnan(x[at])) || fp32(x[i]) > fp32(x[at]);
      if (larger) at = i;
    }
    best.push_back(x[at]);
    x.erase(x.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return best;
}

Values max8(const Values& x, std::int64_t p, DType from = Float32, DType to = Float32,
            Storage storage = Storage::Exact) {
  Rig rig;
  rig.options.storage = storage;
  const auto n = static_cast<std::int64_t>(x.size()) / p;
  const Access o = rig.b.sbuf("o", p, {8}, to);
  rig.b.max8(o, rig.tile("x", from, p, n, x));
  rig.emit("out", o);
  rig.run();
  return rig.values("out");
}

TEST(Max8, EveryDTypeAtTheEndsOfItsSizes) {
  for (const DType from : kDeviceFloats) {
    for (const auto& [p, n] : {std::pair<std::int64_t, std::int64_t>{1, 8}, {33, 9}, {2, 16384}}) {
      const Values x = rounded(normals(p * n, 5), from), got = max8(x, p, from, BFloat16);
      for (std::int64_t i = 0; i < p; ++i) {
        const Values expected = largest_of(row_of(x, i, n));
        for (std::size_t j = 0; j < 8; ++j) {
          ASSERT_TRUE(same(got[static_cast<std::size_t>(i) * 8 + j], rounded(fp32(expected[j]), BFloat16)))
              << name(from) << " " << n;
        }
      }
    }
  }
}

TEST(Max8, TiesNanAndInfinity) {
  EXPECT_EQ(max8({2, 7, 7, 1, 7, 2, 3, 0, 2}, 1), (Values{7, 7, 7, 3, 2, 2, 2, 1}));
  const Values got = max8({1, kNan, kInf, -kInf, 5, kNan, -1, 0, 2, -2}, 1);
  EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]));
  EXPECT_EQ(Values(got.begin() + 2, got.end()), (Values{kInf, 5, 2, 1, 0, -1}));
  const Values zeros = max8({-0.0, 0.0, 0.0, -1, -2, -3, -4, -5}, 1);  // equal: in the order they stand
  EXPECT_TRUE(std::signbit(zeros[0]) && !std::signbit(zeros[1]) && !std::signbit(zeros[2]));
}

// In fp32: 2^24 and 2^24 + 1 are equal. Wide storage tells them apart.
TEST(Max8, IntegersAreComparedInFp32) {
  const Values x{16777216, 16777217, 5, -1, -2147483648.0, 4, 3, 2, 1};
  EXPECT_EQ(max8(x, 1, Int32, Int32), (Values{16777216, 16777216, 5, 4, 3, 2, 1, -1}));
  EXPECT_EQ(max8(x, 1, Int32, Int32, Storage::Wide), (Values{16777217, 16777216, 5, 4, 3, 2, 1, -1}));
}

// The k-th of equal values gets the k-th place.
Values places_of(const Values& x, const Values& vals, double none) {
  Values places;
  for (std::size_t j = 0; j < vals.size(); ++j) {
    std::int64_t skip = 0;
    for (std::size_t k = 0; k < j; ++k) skip += vals[k] == vals[j];
    double place = none;
    for (std::size_t i = 0; i < x.size() && place == none; ++i) {
      if (x[i] == vals[j] && skip-- == 0) place = static_cast<double>(i);
    }
    places.push_back(place);
  }
  return places;
}

Values find(const Values& x, const Values& vals, std::int64_t p, DType to, DType from = Float32) {
  Rig rig;
  const Access o = rig.b.sbuf("o", p, {8}, to);
  rig.b.nc_find_index8(o, rig.tile("x", from, p, static_cast<std::int64_t>(x.size()) / p, x),
                       rig.tile("v", from, p, 8, vals));
  rig.emit("out", o);
  rig.run();
  return rig.values("out");
}

TEST(FindIndex8, FirstPlacesTiesAndMissing) {
  const Values x{4, 9, 4, -0.0, 9, kNan, 1, 4, 2};
  // 4 three times in order, 9, 0 finds -0, NaN equals nothing, 7 is missing, 9 a second time.
  EXPECT_EQ(find(x, {4, 9, 4, 0, kNan, 7, 4, 9}, 1, UInt32), (Values{0, 1, 2, 3, kNone32, kNone32, 7, 4}));
  EXPECT_EQ(find(x, {4, 4, 4, 4, 1, 2, 7, kInf}, 1, UInt16), (Values{0, 2, 7, kNone16, 6, 8, kNone16, kNone16}));
}

TEST(FindIndex8, AgainstAPlainLoop) {
  for (const auto& [p, n] : {std::pair<std::int64_t, std::int64_t>{1, 8}, {33, 100}, {2, 16384}}) {
    for (const DType to : {UInt16, UInt32}) {
      Values x = normals(p * n, 21), vals;
      for (double& v : x) v = std::round(v * 4);  // many ties
      for (std::int64_t i = 0; i < p * 8; ++i) vals.push_back(x[static_cast<std::size_t>(i * 31 % (p * n))]);
      const Values got = find(x, vals, p, to, BFloat16);
      for (std::int64_t i = 0; i < p; ++i) {
        ASSERT_EQ(row_of(got, i, 8), places_of(row_of(x, i, n), row_of(vals, i, 8), to == UInt16 ? kNone16 : kNone32));
      }
    }
  }
}

TEST(FindIndex8, FollowsMax8) {
  Rig rig;
  const Values x = rounded(normals(4 * 64, 22), Float32);
  const Access t = rig.tile("x", Float32, 4, 64, x), v = rig.b.sbuf("v", 4, {8}, Float32);
  const Access o = rig.b.sbuf("o", 4, {8}, UInt32);
  rig.b.max8(v, t);
  rig.b.nc_find_index8(o, t, v);
  rig.emit("vals", v);
  rig.emit("out", o);
  rig.run();
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(x[i / 8 * 64 + static_cast<std::size_t>(rig.values("out")[i])], rig.values("vals")[i]);
  }
}

struct Replaced {
  Values out, places;
};
Replaced replace(const Values& x, const Values& vals, double imm, std::int64_t p, DType from = Float32,
                 DType to = Float32, DType places = UInt32, Storage storage = Storage::Exact) {
  Rig rig;
  rig.options.storage = storage;
  const auto n = static_cast<std::int64_t>(x.size()) / p;
  const Access o = rig.b.sbuf("o", p, {n}, to), idx = rig.b.sbuf("idx", p, {8}, places);
  rig.b.nc_match_replace8(o, rig.tile("x", from, p, n, x), rig.tile("v", from, p, 8, vals), imm, idx);
  rig.emit("out", o);
  rig.emit("places", idx);
  rig.run();
  return {rig.values("out"), rig.values("places")};
}

// The example of the documentation.
TEST(MatchReplace8, LaterValuesTakeEarlierPlaces) {
  const Replaced r = replace({1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8}, {3, 8, 8, 8, 8, 8, 8, 8}, -1, 1);
  EXPECT_EQ(r.places, (Values{2, 10, 9, 8, 7, 6, 5, 4}));
  EXPECT_EQ(r.out, (Values{1, 2, -1, 4, -1, -1, -1, -1, -1, -1, -1}));
}

TEST(MatchReplace8, MissingNanAndFewElements) {
  // Five elements: value 7 takes place 4, value 6 the 1 at place 0; NaN and the second 2 find nothing.
  const Replaced r = replace({1, 2, kNan, 1, 5}, {9, kNan, 2, 2, 1, 8, 1, 5}, 100, 1, Float32, Float32, UInt16);
  EXPECT_EQ(r.places, (Values{kNone16, kNone16, kNone16, 1, 3, kNone16, 0, 4}));
  EXPECT_TRUE(std::isnan(r.out[2]));
  EXPECT_EQ(r.out[0] + r.out[1] + r.out[3] + r.out[4], 400);
}

// Removing -infinity by -infinity: the places are distinct all the same.
TEST(MatchReplace8, AReplacedPlaceIsNotFoundAgain) {
  const Replaced r = replace({-kInf, -kInf, 3, -kInf}, {3, -kInf, -kInf, 7, 7, 7, 7, 7}, -kInf, 1);
  EXPECT_EQ(r.places, (Values{2, 1, 0, kNone32, kNone32, kNone32, kNone32, kNone32}));
  EXPECT_EQ(r.out, (Values{-kInf, -kInf, -kInf, -kInf}));
}

TEST(MatchReplace8, AgainstAPlainLoop) {
  for (const auto& [p, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {33, 40}, {2, 16384}}) {
    Values x = normals(p * n, 31), vals;
    for (double& v : x) v = std::round(v * 3);
    for (std::int64_t i = 0; i < p * 8; ++i) vals.push_back(x[static_cast<std::size_t>(i * 17 % (p * n))]);
    const Replaced r = replace(x, vals, 0.3, p, Float16, BFloat16);
    for (std::int64_t i = 0; i < p; ++i) {
      const Values from = row_of(x, i, n), wanted = row_of(vals, i, 8);
      Values expected(8, kNone32);
      std::vector<bool> taken(from.size());
      for (std::size_t j = 8; j-- > 0;) {
        for (std::size_t k = 0; k < from.size(); ++k) {
          if (taken[k] || from[k] != wanted[j]) continue;
          taken[k] = true;
          expected[j] = static_cast<double>(k);
          break;
        }
      }
      ASSERT_EQ(row_of(r.places, i, 8), expected);
      for (std::size_t k = 0; k < from.size(); ++k) {
        ASSERT_EQ(row_of(r.out, i, n)[k], rounded(fp32(taken[k] ? 0.3 : from[k]), BFloat16));
      }
    }
  }
}

// What stays keeps its bits: 32-bit integers that fp32 does not hold survive, and one of two that it cannot tell apart
// is replaced.
TEST(MatchReplace8, KeepsBitsInPlace) {
  Rig rig;
  const Access x = rig.tile("x", Int32, 1, 3, {123456789, 16777217, 16777216});
  const Access v = rig.tile("v", Int32, 1, 8, {16777216, 0, 0, 0, 0, 0, 0, 0});
  rig.b.nc_match_replace8(x, x, v, 5.0);
  rig.emit("out", x);
  rig.run();
  EXPECT_EQ(rig.values("out"), (Values{123456789, 5, 16777216}));
  const Replaced wide = replace({123456789, 16777217, 16777216}, {16777216, 0, 0, 0, 0, 0, 0, 0}, 5, 1, Int32, Int32,
                                UInt32, Storage::Wide);
  EXPECT_EQ(wide.out, (Values{123456789, 16777217, 5}));
}

// Two rounds of max8 and nc_match_replace8 give the 16 largest.
TEST(MatchReplace8, SixteenLargest) {
  Rig rig;
  Values x = rounded(normals(100, 41), Float32);
  const Access t = rig.tile("x", Float32, 1, 100, x), v = rig.b.sbuf("v", 1, {16}, Float32);
  rig.b.max8(v(all, ds(0, 8)), t);
  rig.b.nc_match_replace8(t, t, v(all, ds(0, 8)), -kInf);
  rig.b.max8(v(all, ds(8, 8)), t);
  rig.emit("out", v);
  rig.run();
  std::sort(x.begin(), x.end(), std::greater<>());
  EXPECT_EQ(rig.values("out"), Values(x.begin(), x.begin() + 16));
}

}  // namespace
}  // namespace trn::neuron::sim
