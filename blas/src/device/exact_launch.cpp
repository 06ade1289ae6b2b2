// The launch of Precision Exact on a device: the constants of the program, and what remains for the host side: joining the limbs of an
// integer. Its scaling by a power of two, alpha, beta and the one rounding are exact.cpp's.
#include <algorithm>
#include <cmath>

#include <trn/core/array.hpp>
#include <trn/tile/device.hpp>

#include "../exact.hpp"
#include "exact_recombination.hpp"
#include "exact_slices.hpp"

namespace trn::blas {

using namespace trn::tile;

std::vector<float> exact_table(int moduli) {
  std::vector<float> table(static_cast<std::size_t>(device::kTableRows * moduli));
  for (int i = 0; i < moduli; ++i) {
    const int p = exact::moduli()[static_cast<std::size_t>(i)];
    const auto at = [&](int row) -> float& { return table[static_cast<std::size_t>(row * moduli + i)]; };
    std::int64_t power = 1;
    for (int l = 1; l <= 3; ++l) {
      power = (power << 16) % p;
      const std::int64_t balanced = 2 * power > p ? power - p : power;
      at(device::kC1 + l - 1) = std::ldexp(static_cast<float>(balanced), -16 * l);
    }
    at(device::kInverse) = 1.0F / static_cast<float>(p);
    at(device::kMinusP) = -static_cast<float>(p);
  }
  return table;
}

std::vector<float16> exact_weights(int moduli, const Machine& machine) {
  const exact::Recombination constants = exact::recombination(moduli);
  const auto group = static_cast<std::size_t>(device::Recombine::group(moduli, machine)), words = static_cast<std::size_t>(2 * constants.limbs + 2);
  std::vector<float16> weights(group * static_cast<std::size_t>(moduli) * words * group, float16(0.0F));
  for (std::size_t j = 0; j < group; ++j) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(moduli); ++i) {
      for (std::size_t k = 0; k < words; ++k) {
        weights[((j * static_cast<std::size_t>(moduli) + i) * words + k) * group + j] = float16(static_cast<float>(constants.weight[i][k]));
      }
    }
  }
  return weights;
}

namespace device {

void exact_product(const Executor& executor, const ExactArgs& args) {
  const GemmArgs& g = args.g;
  std::vector<exact::Wide> row(static_cast<std::size_t>(args.columns));
  if (args.depth == 0) {
    for (std::int64_t i = 0; i < args.rows; ++i) args.sink(i, row.data());
    return;
  }
  Device& device = device_of(executor);
  // Where op(B) is the conjugate transpose of op(A), its integers are those of the first rows: [Re A, -Im A] of [Re A, -Im A; Im A, Re A].
  const bool same = g.a == g.b && g.m == g.n && g.am == g.bn && g.ak == g.bk && (!is_complex(g.in) || g.conj_a != g.conj_b) &&
                    std::equal(args.shift_b.begin(), args.shift_b.end(), args.shift_a.begin());
  ExactShape shape{g.in, args.moduli, g.m, g.n, g.k, g.am, g.ak, same ? 1 : g.bk, same ? 1 : g.bn, g.conj_a, g.conj_b};
  shape.lower = args.lower, shape.same = same;
  const auto program = device.programs().get(shape, [&](const ExactShape& s) { return exact_program(s, device.machine()); });
  const bool wide = real_of(g.in) == DType::Float64;
  std::vector<float> offset;
  for (const auto& shifts : {same ? std::span<const std::int32_t>() : args.shift_b, args.shift_a}) {
    for (const std::int32_t s : shifts) offset.push_back(static_cast<float>(exact::exponent_offset(wide, s)));
  }
  const Array<float> offsets = Array<float>::from_host(executor, {static_cast<std::int64_t>(offset.size())}, offset);
  const Array<float> table = Array<float>::from_host(executor, {kTableRows * args.moduli}, exact_table(args.moduli));
  const std::vector<float16> constants = exact_weights(args.moduli, device.machine());
  const Array<float16> weights = Array<float16>::from_host(executor, {static_cast<std::int64_t>(constants.size())}, constants);
  const int limbs = exact::recombination(args.moduli).limbs;
  const Array<float> words(executor, {args.rows * limbs * args.columns});
  std::vector<Binding> bindings{{"a", const_cast<void*>(g.a)},
                                {"offsets", offsets.data()},
                                {"table", table.data()},
                                {"weights", weights.data()},
                                {"limbs", words.data()}};
  if (!same) bindings.push_back({"b", const_cast<void*>(g.b)});
  device.run(*program, bindings);
  const std::vector<float> host = words.to_host();
#pragma omp parallel for firstprivate(row) if (args.rows * args.columns > 1 << 12)
  for (std::int64_t i = 0; i < args.rows; ++i) {
    const std::int64_t wanted = args.lower ? i % g.m + 1 : args.columns;
    for (std::int64_t j = 0; j < wanted; ++j) {
      const bool turned = shape.by_columns();
      const std::int64_t outer = turned ? j : i, inner = turned ? i : j, length = turned ? args.rows : args.columns;
      row[static_cast<std::size_t>(j)] = exact::join(host.data() + outer * limbs * length + inner, length, limbs);
    }
    args.sink(i, row.data());
  }
}

}  // namespace device

}  // namespace trn::blas
