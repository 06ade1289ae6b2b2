// quantize_mx and nc_matmul_mx against the formats' definitions: a decoder by exponent and fraction, the nearest code
// by trying all of them, and plain loops of std::fma.
#include <bit>
#include <cmath>
#include <limits>

#include "interpreter_harness.hpp"

namespace trn::neuron::sim {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Sign, `exponent` bits, `fraction` bits; the last patterns are specials only where the format has some.
struct Format {
  MxFormat name;
  int bits, exponent, fraction, largest_exponent;
  double largest;
};
const Format kE4M3{MxFormat::Float8E4M3FN, 8, 4, 3, 8, 448}, kE5M2{MxFormat::Float8E5M2, 8, 5, 2, 15, 57344},
    kE2M1{MxFormat::Float4E2M1FN, 4, 2, 1, 2, 6};

double decode(const Format& f, std::uint32_t code) {
  const int bias = (1 << (f.exponent - 1)) - 1;
  const int fraction = static_cast<int>(code & ((1u << f.fraction) - 1));
  const int exponent = static_cast<int>(code >> f.fraction & ((1u << f.exponent) - 1));
  const double sign = code >> (f.bits - 1) != 0 ? -1 : 1;
  const bool top = exponent == (1 << f.exponent) - 1;
  if (f.name == MxFormat::Float8E5M2 && top) return fraction == 0 ? sign * kInf : kNan;
  if (f.name == MxFormat::Float8E4M3FN && top && fraction == 7) return kNan;
  const double value = exponent == 0 ? std::ldexp(fraction, 1 - bias - f.fraction)
                                     : std::ldexp(fraction + (1 << f.fraction), exponent - bias - f.fraction);
  return sign * value;
}

// The code nearest to x among the finite ones, of two the even one; x's own sign for zeros.
std::uint32_t nearest(const Format& f, double x) {
  std::uint32_t best = 0;
  double distance = kInf;
  for (std::uint32_t code = 0; code < 1u << f.bits; ++code) {
    const double value = decode(f, code);
    if (!std::isfinite(value) || std::signbit(value) != std::signbit(x)) continue;
    const double d = std::fabs(value - x);
    if (d < distance || (d == distance && code % 2 == 0)) distance = d, best = code;
  }
  return best;
}

// A tile of packed codes, four per element, and one of scales where a program keeps them.
Values pack(const Format& f, const std::vector<std::uint32_t>& codes) {
  Values words(codes.size() / 4);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint64_t word = 0;
    for (std::size_t q = 0; q < 4; ++q)
      word |= std::uint64_t{codes[4 * i + q]} << (static_cast<std::size_t>(f.bits) * q);
    words[i] = static_cast<double>(word);
  }
  return words;
}
DType packed_dtype(const Format& f) { return f.bits == 4 ? DType::UInt16 : DType::UInt32; }

struct MxMatrix {
  std::vector<std::uint32_t> codes;  // (k, width, 4)
  Values scales;                     // (k / 8, width)
  std::int64_t k, width;
  [[nodiscard]] float value(const Format& f, std::int64_t row, std::int64_t column, std::int64_t q) const {
    const double s = scales[static_cast<std::size_t>(row / 8 * width + column)];
    return static_cast<float>(decode(f, codes[static_cast<std::size_t>((row * width + column) * 4 + q)])) *
           std::ldexp(1.0f, static_cast<int>(s) - 127);
  }
};
MxMatrix random_matrix(const Format& f, std::int64_t k, std::int64_t width, unsigned seed) {
  std::mt19937 random(seed);
  MxMatrix m{{}, {}, k, width};
  while (static_cast<std::int64_t>(m.codes.size()) < k * width * 4) {
    const std::uint32_t code = random() & ((1u << f.bits) - 1);
    if (std::isfinite(decode(f, code))) m.codes.push_back(code);
  }
  for (std::int64_t i = 0; i < k / 8 * width; ++i) m.scales.push_back(117 + static_cast<double>(random() % 21));
  return m;
}
// The scales in rows 0 .. 3 of each quadrant of a (k, width) tile, `offset` rows further on; the other rows stay
// unwritten.
Access scale_tile(Rig& rig, const std::string& name, const MxMatrix& m, std::int64_t offset = 0) {
  const Access source = rig.input(name, DType::UInt8, {m.k / 8, m.width}, m.scales);
  const Access t = rig.b.sbuf(name + "_tile", m.k, {m.width}, DType::UInt8);
  for (std::int64_t q = 0; q < m.k / 32; ++q) {
    rig.b.dma_copy(t(ds(32 * q + offset, 4), all), source(ds(4 * q, 4), all));
  }
  return t(ds(offset, m.k - offset), all);
}
Access data_tile(Rig& rig, const std::string& name, const Format& f, const MxMatrix& m) {
  return rig.tile(name, packed_dtype(f), m.k, m.width, pack(f, m.codes));
}

std::vector<float> product(const Format& fa, const MxMatrix& a, const Format& fb, const MxMatrix& b) {
  std::vector<float> c;
  for (std::int64_t m = 0; m < a.width; ++m) {
    for (std::int64_t n = 0; n < b.width; ++n) {
      float sum = 0;
      for (std::int64_t k = 0; k < a.k; ++k) {
        for (std::int64_t q = 0; q < 4; ++q) sum = std::fma(a.value(fa, k, m, q), b.value(fb, k, n, q), sum);
      }
      c.push_back(sum);
    }
  }
  return c;
}

TEST(NcMatmulMx, ChainOfScaledValuesForEveryPairOfFormats) {
  for (const Format& fa : {kE4M3, kE5M2, kE2M1}) {
    for (const Format& fb : {kE4M3, kE5M2, kE2M1}) {
      for (const std::int64_t k : {32, 96, 128}) {
        Rig rig("trn3");
        const MxMatrix a = random_matrix(fa, k, 6, 1), b = random_matrix(fb, k, 9, 2);
        const Access c = rig.b.psum("c", 6, {9});
        const MxMatmulOptions formats{.stationary = fa.name, .moving = fb.name};
        MxMatmulOptions again = formats;
        again.accumulate = 1;
        const Access x = data_tile(rig, "a", fa, a), y = data_tile(rig, "b", fb, b);
        const Access s = scale_tile(rig, "sa", a), t = scale_tile(rig, "sb", b, 12);
        rig.b.nc_matmul_mx(c, x, y, s, t, formats);
        rig.b.nc_matmul_mx(c, x, y, s, t, again);
        rig.emit("out", c, Space::Psum);
        rig.run();
        const std::vector<float> expected = product(fa, a, fb, b);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(rig.words("out")[i], std::bit_cast<std::uint32_t>(expected[i] + expected[i]))
              << name(fa.name) << " by " << name(fb.name) << " K=" << k << " element " << i;
        }
      }
    }
  }
}

// The largest scale there is, and 255.
TEST(NcMatmulMx, OverflowIsInfiniteAndAScaleOf255IsNotANumber) {
  Rig rig("trn3");
  MxMatrix a{std::vector<std::uint32_t>(32 * 2 * 4, 0), Values(4 * 2, 127), 32, 2};
  MxMatrix b = a;
  a.codes[0] = a.codes[4] = 0x38;        // 1 in (k 0, columns 0 and 1, q 0)
  b.codes[0] = 0x7e, b.codes[4] = 0x38;  // 448 and 1
  b.scales[0] = 254, b.scales[1] = 255;  // 448 * 2^127, NaN
  const Access c = rig.b.psum("c", 2, {2});
  rig.b.nc_matmul_mx(c, data_tile(rig, "a", kE4M3, a), data_tile(rig, "b", kE4M3, b), scale_tile(rig, "sa", a),
                     scale_tile(rig, "sb", b));
  rig.emit("out", c, Space::Psum);
  rig.run();
  EXPECT_TRUE(std::isnan(rig.values("out")[1]));
  EXPECT_EQ(rig.values("out")[0], kInf);
}

TEST(NcMatmulMx, RowsOfTheArrayDoNotChangeBits) {
  const MxMatrix a = random_matrix(kE4M3, 128, 4, 3), b = random_matrix(kE4M3, 128, 8, 4);
  std::vector<std::vector<std::uint32_t>> words;
  for (const std::int64_t rows : {0, 32}) {
    Rig rig("trn3");
    const Access c = rig.b.psum("c", 4, {8});
    const Access x = data_tile(rig, "a", kE4M3, a)(ds(32, 32), all), y = data_tile(rig, "b", kE4M3, b)(ds(32, 32), all);
    const Access s = scale_tile(rig, "sa", a)(ds(32, 4), all), t = scale_tile(rig, "sb", b)(ds(32, 32), all);
    rig.b.nc_matmul_mx(c, x, y, s, t, {.tile_row = rows, .tile_rows = rows});
    rig.emit("out", c, Space::Psum);
    rig.run();
    words.push_back(rig.words("out"));
  }
  EXPECT_EQ(words[0], words[1]);
}

TEST(NcMatmulMx, ScalesMustHaveBeenWritten) {
  const MxMatrix a = random_matrix(kE4M3, 64, 4, 3);
  const auto check = [&](std::int64_t offset) {
    Rig rig("trn3");
    const Access c = rig.b.psum("c", 4, {4}), x = data_tile(rig, "a", kE4M3, a), s = scale_tile(rig, "s", a);
    Access other = s;
    other.partition = other.partition + offset;
    other.partitions -= offset;
    rig.b.nc_matmul_mx(c, x, x, s, other);
    rig.emit("out", c, Space::Psum);
    return check_of([&] { rig.run(); });
  };
  EXPECT_EQ(check(0), "");
  EXPECT_EQ(check(4), "uninitialised-read");
}

TEST(NcMatmulMx, SumsInBfloat16RoundOnEveryAccumulation) {
  Rig rig("trn3");
  const MxMatrix a = random_matrix(kE4M3, 32, 2, 5), b = random_matrix(kE4M3, 32, 3, 6);
  const Access c = rig.b.psum("c", 2, {3}, DType::BFloat16);
  const Access x = data_tile(rig, "a", kE4M3, a), y = data_tile(rig, "b", kE4M3, b);
  const Access s = scale_tile(rig, "sa", a), t = scale_tile(rig, "sb", b);
  for (int i = 0; i < 3; ++i) rig.b.nc_matmul_mx(c, x, y, s, t, {.accumulate = i});
  rig.emit("out", c, Space::Psum);
  rig.run();
  const std::vector<float> once = product(kE4M3, a, kE4M3, b);
  for (std::size_t i = 0; i < once.size(); ++i) {
    double sum = rounded(once[i], DType::BFloat16);
    for (int j = 0; j < 2; ++j) sum = rounded(static_cast<float>(sum) + once[i], DType::BFloat16);
    EXPECT_EQ(rig.values("out")[i], sum);
  }
}

// Values of very different sizes, whole groups of zeros, denormals, ties.
Values group_values(std::int64_t partitions, std::int64_t n, DType dtype) {
  Values x = normals(partitions * n, 7);
  for (std::int64_t p = 0; p < partitions; ++p) {
    for (std::int64_t j = 0; j < n; ++j) {
      double& v = x[static_cast<std::size_t>(p * n + j)];
      const std::int64_t group = p / 8 * (n / 4) + j / 4;
      v = std::ldexp(v, static_cast<int>(group * 5 % 29) - 14 - static_cast<int>((p * 7 + j) % 9));
      if (group % 7 == 3) v = 0;
      if (group % 7 == 5)
        v = std::ldexp(1 + static_cast<double>((p + j) % 16) / 16, dtype == DType::BFloat16 ? -132 : -20);
      if (group % 7 == 6) v = (1 + static_cast<double>((3 * p + j) % 32) / 32) * (j % 2 == 0 ? 1 : -1);
    }
  }
  return rounded(x, dtype);
}

TEST(QuantizeMx, NearestCodesAndDocumentedScales) {
  for (const Format& f : {kE4M3, kE5M2}) {
    for (const DType dtype : {DType::BFloat16, DType::Float16}) {
      Rig rig("trn3");
      const std::int64_t partitions = 64, n = 48, width = n / 4;
      const Values x = group_values(partitions, n, dtype);
      const Access codes = rig.b.sbuf("codes", partitions, {width}, DType::UInt32);
      const Access scales = rig.b.sbuf("scales", partitions, {width}, DType::UInt8);
      rig.b.quantize_mx(codes, rig.tile("x", dtype, partitions, n, x), scales(ds(8, partitions - 8), all), f.name);
      rig.emit("codes_out", codes);
      rig.emit("low", scales(ds(8, 4), all));
      rig.emit("high", scales(ds(40, 4), all));
      rig.run();
      const Values low = rig.values("low"), high = rig.values("high");
      for (std::int64_t p = 0; p < partitions; ++p) {
        for (std::int64_t j = 0; j < width; ++j) {
          double largest = 0;
          for (std::int64_t r = p / 8 * 8; r < p / 8 * 8 + 8; ++r) {
            for (std::int64_t q = 0; q < 4; ++q)
              largest = std::max(largest, std::fabs(x[static_cast<std::size_t>(r * n + 4 * j + q)]));
          }
          const Values& quadrant = p < 32 ? low : high;
          const double s = quadrant[static_cast<std::size_t>(p % 32 / 8 * width + j)];
          // floor(log2 largest) - (largest exponent - 1), not below -127
          const double wanted =
              largest == 0 ? 0 : std::max(0.0, std::floor(std::log2(largest)) - (f.largest_exponent - 1) + 127);
          ASSERT_EQ(s, wanted) << name(f.name) << " partition " << p << " group " << j << " largest " << largest;
          const std::uint32_t word = rig.words("codes_out")[static_cast<std::size_t>(p * width + j)];
          for (std::int64_t q = 0; q < 4; ++q) {
            const double v = x[static_cast<std::size_t>(p * n + 4 * j + q)];
            ASSERT_EQ(word >> (8 * q) & 0xff, nearest(f, std::ldexp(v, 127 - static_cast<int>(s))))
                << name(f.name) << " of " << v << " scaled by " << s;
          }
        }
      }
    }
  }
}

// Infinities are held at the largest number of the scale above all finite ones; NaN stays.
TEST(QuantizeMx, NotFinite) {
  Rig rig("trn3");
  Values x(32 * 8, 1.0);
  x[0] = kInf;
  x[8 * 8 + 5] = -kInf;  // partition 8, second group
  x[8 * 8 + 6] = kNan;
  const Access codes = rig.b.sbuf("codes", 32, {2}, DType::UInt32), scales = rig.b.sbuf("scales", 4, {2}, DType::UInt8);
  rig.b.quantize_mx(codes, rig.tile("x", DType::BFloat16, 32, 8, x), scales);
  rig.emit("codes_out", codes);
  rig.emit("scales_out", scales);
  rig.run();
  EXPECT_EQ(rig.values("scales_out"), (Values{248, 120, 120, 248, 120, 120, 120, 120}));
  EXPECT_EQ(rig.words("codes_out")[0], 0x0000007eu);                 // 448; 1 / 2^121 is nothing
  EXPECT_EQ(rig.words("codes_out")[1], 0x70707070u);                 // 1 / 2^-7 = 128
  EXPECT_EQ(rig.words("codes_out")[17] & 0xff7fff00u, 0x007ffe00u);  // -448 and NaN of either sign
}

// What quantize_mx writes is what nc_matmul_mx reads, in Wide storage too; scales of two tensors share a tile.
TEST(QuantizeMx, FeedsTheMatmul) {
  for (const Storage storage : {Storage::Exact, Storage::Wide}) {
    Rig rig("trn3");
    rig.options.storage = storage;
    const std::int64_t k = 64, m = 4, n = 6;
    const Values a = rounded(normals(k * m * 4, 1), DType::BFloat16),
                 b = rounded(normals(k * n * 4, 2), DType::BFloat16);
    const Access x = rig.b.sbuf("x", k, {m}, DType::UInt32), y = rig.b.sbuf("y", k, {n}, DType::UInt32);
    const Access scales = rig.b.sbuf("scales", k, {n}, DType::UInt8);
    const Access s = scales(all, ds(0, m)), t = scales(ds(4, k - 4), all);
    rig.b.quantize_mx(x, rig.tile("a", DType::BFloat16, k, 4 * m, a), s);
    rig.b.quantize_mx(y, rig.tile("b", DType::BFloat16, k, 4 * n, b), t);
    const Access c = rig.b.psum("c", m, {n});
    rig.b.nc_matmul_mx(c, x, y, s, t);
    rig.emit("out", c, Space::Psum);
    rig.run();
    // |x - x^| <= 2^-4 |x| for values that are normal in the format, 2^-10 times the scale for the others.
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        long double exact = 0, bound = 0;
        for (std::int64_t r = 0; r < k; ++r) {
          for (std::int64_t q = 0; q < 4; ++q) {
            const double u = a[static_cast<std::size_t>((r * m + i) * 4 + q)],
                         v = b[static_cast<std::size_t>((r * n + j) * 4 + q)];
            exact += static_cast<long double>(u) * v;
            // Scales are at most 2^(2 - 7): no value here reaches 8.
            const double du = std::fabs(u) / 16 + 0x1p-15, dv = std::fabs(v) / 16 + 0x1p-15;
            bound += std::fabs(u) * dv + std::fabs(v) * du + du * dv;
          }
        }
        EXPECT_LE(std::fabs(rig.values("out")[static_cast<std::size_t>(i * n + j)] - static_cast<double>(exact)),
                  static_cast<double>(bound) * (1 + 0x1p-15));
        EXPECT_GT(static_cast<double>(bound), 0);
      }
    }
  }
}

}  // namespace
}  // namespace trn::neuron::sim
