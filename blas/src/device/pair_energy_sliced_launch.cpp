// pair_energy of float64 operands on a device: scales from the exponents of B, the run, sums of its words in
// double-double; and the bound of its products.
#include <algorithm>
#include <cmath>
#include <span>

#include <trn/core/array.hpp>
#include <trn/core/eft.hpp>

#include "pair_energy_sliced.hpp"
#include "pair_weights.hpp"
#include "panel_slices.hpp"
#include "vectors.hpp"

namespace trn::blas {

using namespace trn::tile;

SlicedProductBound sliced_product_bound(std::int64_t naux, std::int64_t nvir, const Machine& machine) {
  const SlicedCut cut({1, naux, nvir, 0}, machine);
  const auto k = static_cast<double>(naux), groups = static_cast<double>(cut.groups);
  const double assembly = (3.1 * groups + 1.7 * groups * groups) * std::ldexp(1.0, -24 - sliced_fraction_bits(naux));
  return {1.25 * 0x1p-42 * std::sqrt(k), 0x1p-12 * (4.1 * 65 * 65 * k * 0x1p-49 + 700 * groups * 0x1p-35 + assembly)};
}

namespace device {

namespace {

constexpr int kInfinite = 0x7ff;  // exponent field of infinities and NaN
constexpr int kTiny = 200;        // below 2^-823 T^2 underflows in double, too
constexpr int kSpread = 30;       // columns further below an orbital's largest are cut where that one is

// Scales of the columns of B: of orbital i as a whole, and relative to it.
struct Scales {
  bool finite = true;
  std::vector<int> orbital;              // exponent fields; 0 where B_i is zero
  std::vector<float> exponents, powers;  // inputs of the program
};
Scales scales_of(const std::vector<float>& largest, std::int64_t nocc, std::int64_t nvir, double* scale) {
  Scales s;
  for (std::int64_t i = 0; i < nocc; ++i) {
    std::vector<int> fields;
    for (std::int64_t a = 0; a < nvir; ++a)
      fields.push_back(
          static_cast<int>(std::ldexp(static_cast<double>(largest[static_cast<std::size_t>(i * nvir + a)]), -20)));
    const int top = *std::max_element(fields.begin(), fields.end());
    s.finite = s.finite && top != kInfinite;
    s.orbital.push_back(top < kTiny ? 0 : top);
    for (std::int64_t a = 0; a < nvir; ++a) {
      const int field = std::max(fields[static_cast<std::size_t>(a)], top - kSpread);
      scale[i * nvir + a] = top < kTiny ? 0 : std::ldexp(1.0, field - 1022);
      s.exponents.push_back(top < kTiny ? -4096.0f
                                        : 126.0f - static_cast<float>(field));  // -4096 makes every element zero
      s.powers.push_back(std::ldexp(1.0f, field - top));
    }
  }
  return s;
}

std::vector<double> on_host(const Executor& executor, const void* from, std::int64_t count, std::int64_t stride) {
  std::vector<double> values(static_cast<std::size_t>(count));
  trn::copy(View<const double>(executor, static_cast<const double*>(from), {count}, {stride}),
            View<double>(Executor::host(), values.data(), {count}));
  return values;
}

}  // namespace

void pair_energy_sliced(const Executor& executor, const PairEnergyArgs& g) {
  const Machine& machine = device_of(executor).machine();
  const PairRange range{g.nocc, g.left};
  const SlicedPairEnergyShape shape{g.nocc, g.naux, g.nvir, g.left};
  const auto program =
      load(executor, sliced_pair_energy_program, shape);  // refuses what does not fit, before anything runs

  const Array<float> largest(executor, {g.nocc, g.nvir});
  const PanelShape panels{g.nocc, g.naux, g.nvir};
  launch(executor, column_exponent_program, panels, {{"b", g.b}, {"largest", largest.data()}});
  const Scales scales = scales_of(largest.to_host(), g.nocc, g.nvir, g.scale);
  if (!scales.finite) {
    std::fill_n(g.pairs, range.count(), PairSums{NAN, NAN});
    std::fill_n(g.norms2, g.nocc * g.nvir, NAN);
    return;
  }

  const std::vector<double> low = on_host(executor, g.occupied, g.nocc, g.occupied_stride),
                            high = on_host(executor, g.virtuals, g.nvir, g.virtual_stride);
  const auto largest_of = [](const std::vector<double>& x) {
    return std::max(*std::ranges::max_element(x), -*std::ranges::min_element(x));
  };
  const double most = 2 * (std::max(largest_of(low), g.largest_energy) + std::max(largest_of(high), g.largest_energy));
  const auto words = [&](const std::vector<double>& values) {
    return Array<float>::from_host(executor, {3, static_cast<std::int64_t>(values.size())}, energy_words(values, most));
  };
  const Array<float> occupied = words(low), virtuals = words(high);
  const Array<float> exponent = Array<float>::from_host(executor, {g.nocc, g.nvir}, scales.exponents),
                     powers = Array<float>::from_host(executor, {g.nocc, g.nvir}, scales.powers);
  const SlicedCut cut(shape, machine);
  const std::int64_t words_per_pair = cut.height * cut.columns();
  const Array<float> sums(executor, {range.count(), words_per_pair}), norms(executor, {g.nocc, g.nvir});
  launch(executor, program,
         std::vector<Argument>{{"b", g.b},
                               {"exponents", exponent.data()},
                               {"powers", powers.data()},
                               {"occupied", occupied.data()},
                               {"virtuals", virtuals.data()},
                               {"sums", sums.data()},
                               {"norms", norms.data()}});

  // T is in units of 2^-12 times the scales of both orbitals, norms in units of s_ia / 64.
  const std::vector<float> parts = sums.to_host(), squares = norms.to_host();
  const auto orbital = [&](std::int64_t i) {
    return std::ldexp(1.0, scales.orbital[static_cast<std::size_t>(i)] - 1022);
  };
  std::int64_t pair = 0;
  for (std::int64_t i = 0; i < range.rows(); ++i) {
    for (std::int64_t j = range.first(i); j < g.nocc; ++j, ++pair) {
      DoubleDouble total[2];
      for (std::int64_t at = 0; at < words_per_pair; ++at) {
        DoubleDouble& sum = total[at / 4 % 2];
        sum = sum + DoubleDouble(parts[static_cast<std::size_t>(pair * words_per_pair + at)]);
      }
      const double unit = 0x1p-12 * orbital(i) * orbital(j);
      g.pairs[pair] = {unit * (unit * static_cast<double>(total[0])),
                       unit * (unit * static_cast<double>(total[1])) / 2};
    }
  }
  for (std::int64_t at = 0; at < g.nocc * g.nvir; ++at) {
    const double length = g.scale[at] / 64;
    g.norms2[at] = static_cast<double>(squares[static_cast<std::size_t>(at)]) * length * length;
  }
}

}  // namespace device

}  // namespace trn::blas
