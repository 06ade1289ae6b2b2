// Decoding microscaling elements, and quantize_mx: the Vector Engine's way to make them.
#include "sim/microscaling.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <trn/core/convert.hpp>

#include "sim/engines.hpp"

namespace trn::neuron::sim {

namespace {

using tile::MxFormat;

constexpr int kBias = 127, kScaleNan = 255;

struct MxFacts {
  int bits;              // of a value
  int largest_exponent;  // of a finite number
  double largest;
};
MxFacts facts(MxFormat format) {
  switch (format) {
    case MxFormat::Float8E4M3FN:
      return {8, 8, 448};
    case MxFormat::Float8E5M2:
      return {8, 15, 57344};
    case MxFormat::Float4E2M1FN:
      return {4, 2, 6};
  }
  fail<InternalError>("simulator: microscaling format {}", static_cast<int>(format));
}
DType element_dtype(MxFormat format) {
  return format == MxFormat::Float8E4M3FN ? DType::Float8E4M3FN : DType::Float8E5M2;
}

// Every value of the format, by its bits.
std::vector<double> values_of(MxFormat format) {
  if (format == MxFormat::Float4E2M1FN) {  // sign, two bits of exponent, one of fraction
    std::vector<double> values{0, 0.5, 1, 1.5, 2, 3, 4, 6};
    for (std::size_t i = 0; i < 8; ++i) values.push_back(-values[i]);
    return values;
  }
  std::array<std::uint8_t, 256> codes;
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
  std::vector<double> values(codes.size());
  to_double(element_dtype(format), codes.data(), values.data(), 256);
  return values;
}

// s of a group. Not finite counts as the exponent above the largest one, as in the exponent field of such a value.
int scale_of(double largest, bool finite, const MxFacts& f) {
  constexpr int kBeyond = 128;
  if (finite && largest == 0) return 0;
  const int exponent = finite ? std::ilogb(largest) : kBeyond;
  return std::clamp(exponent - (f.largest_exponent - 1) + kBias, 0, kScaleNan - 1);
}

}  // namespace

std::int64_t scale_row(const Execution& e, std::int64_t k) {
  const std::int64_t quadrant = e.machine.partitions / 4;
  return k / quadrant * quadrant + k % quadrant / kMxPartitions;
}

void check_scale_read(const Execution& e, const Operand& scale, std::size_t slot, std::int64_t partitions) {
  for (std::int64_t k = 0; k < partitions; k += kMxPartitions) e.check_read(scale.entry(scale_row(e, k)), slot);
}

template <class Real>
std::vector<Real> unpack(const Execution& e, const Operand& packed, const Operand& scale, MxFormat format) {
  const std::vector<double> values = values_of(format);
  const int bits = facts(format).bits;
  const std::uint32_t mask = (1u << bits) - 1;
  const std::int64_t width = packed.row;
  std::vector<Real> out(static_cast<std::size_t>(packed.count * kMxPacked));
  std::vector<std::uint32_t> words(static_cast<std::size_t>(width)), scales(static_cast<std::size_t>(width));
  for (std::int64_t k = 0; k < packed.rows; ++k) {
    load_words(packed, k * width, width, Extend::Bits, words.data());
    if (k % kMxPartitions == 0) load_words(scale, scale_row(e, k) * width, width, Extend::Bits, scales.data());
    for (std::int64_t j = 0; j < width; ++j) {
      const int s = static_cast<int>(scales[static_cast<std::size_t>(j)]);
      const Real factor = s == kScaleNan ? std::numeric_limits<Real>::quiet_NaN() : std::ldexp(Real(1), s - kBias);
      for (std::int64_t q = 0; q < kMxPacked; ++q) {
        const std::uint32_t code = words[static_cast<std::size_t>(j)] >> (bits * static_cast<int>(q)) & mask;
        out[static_cast<std::size_t>((k * kMxPacked + q) * width + j)] = static_cast<Real>(values[code]) * factor;
      }
    }
  }
  return out;
}

// Of each group the exponent of its largest magnitude decides the scale, twice the one of the standard's sample
// algorithm, so that the largest value never rounds beyond the format. Quotients are exact, rounded to nearest even
// once and held at the largest number; in every rounding mode.
template <class Real> void execute(const Execution& e, const isa::QuantizeMx& a) {
  using I = isa::QuantizeMx;
  const MxFacts f = facts(a.format);
  const Operand src = e.read(I::src), dst = e.write(I::dst), scale = e.resolved(I::dst_scale);
  const std::int64_t n = src.row, width = dst.row, count = kMxPartitions * n;
  ensure(n == kMxPacked * width && src.rows % kMxPartitions == 0, "simulator: quantize_mx of {} x {} into {}", src.rows,
         n, width);
  std::vector<Real> loaded(static_cast<std::size_t>(count));
  std::vector<double> values(loaded.size());
  std::vector<std::uint8_t> codes(loaded.size());
  std::vector<std::uint32_t> scales(static_cast<std::size_t>(width)), words(scales.size());
  for (std::int64_t first = 0; first < src.rows; first += kMxPartitions) {
    load(src, first * n, count, loaded.data());
    for (std::int64_t j = 0; j < width; ++j) {
      double largest = 0;
      bool finite = true;
      const auto each = [&](auto use) {
        for (std::int64_t p = 0; p < kMxPartitions; ++p) {
          for (std::int64_t q = 0; q < kMxPacked; ++q) use(static_cast<std::size_t>(p * n + j * kMxPacked + q));
        }
      };
      each([&](std::size_t i) {
        finite = finite && std::isfinite(loaded[i]);
        largest = std::max(largest, std::abs(static_cast<double>(loaded[i])));
      });
      const int s = scale_of(largest, finite, f);
      scales[static_cast<std::size_t>(j)] = static_cast<std::uint32_t>(s);
      each([&](std::size_t i) {
        const double quotient = std::ldexp(static_cast<double>(loaded[i]), kBias - s);
        values[i] = std::isnan(quotient) ? quotient : std::clamp(quotient, -f.largest, f.largest);
      });
    }
    from_double(values.data(), element_dtype(a.format), codes.data(), count);
    for (std::int64_t p = 0; p < kMxPartitions; ++p) {
      for (std::int64_t j = 0; j < width; ++j) {
        std::uint32_t word = 0;
        for (std::int64_t q = 0; q < kMxPacked; ++q) {
          word |= std::uint32_t{codes[static_cast<std::size_t>(p * n + j * kMxPacked + q)]} << (8 * q);
        }
        words[static_cast<std::size_t>(j)] = word;
      }
      store_words(dst, (first + p) * width, width, words.data());
    }
    const std::int64_t row = scale_row(e, first);
    store_words(scale, row * width, width, scales.data());
    e.mark_written(scale, row * width, width);
  }
}

template std::vector<float> unpack(const Execution&, const Operand&, const Operand&, MxFormat);
template std::vector<double> unpack(const Execution&, const Operand&, const Operand&, MxFormat);
template void execute<float>(const Execution&, const isa::QuantizeMx&);
template void execute<double>(const Execution&, const isa::QuantizeMx&);

}  // namespace trn::neuron::sim
