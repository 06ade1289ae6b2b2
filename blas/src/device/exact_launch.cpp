// The launch of Precision Exact on a device: the constants of the program, and what remains for the host side: joining
// the limbs of an integer. Its scaling by a power of two, alpha, beta and the one rounding are exact/finish.cpp's.
#include <algorithm>
#include <array>
#include <cmath>

#include <trn/core/array.hpp>
#include <trn/core/parallel.hpp>
#include <trn/tile/launch.hpp>

#include "../exact.hpp"
#include "exact_recombination.hpp"
#include "exact_slices.hpp"

namespace trn::blas {

using namespace trn::tile;

std::vector<float> exact_table(int moduli, int limbs) {
  const std::array<int, 4> units = exact::limb_units(limbs);
  std::vector<float> table(static_cast<std::size_t>(device::kTableRows * moduli));
  for (int i = 0; i < moduli; ++i) {
    const int p = exact::moduli()[static_cast<std::size_t>(i)];
    const auto at = [&](int row) -> float& { return table[static_cast<std::size_t>(row * moduli + i)]; };
    for (int l = 1; l < limbs; ++l) {
      const int unit = units[static_cast<std::size_t>(l)];
      const std::int64_t power = (std::int64_t{1} << unit) % p, balanced = 2 * power > p ? power - p : power;
      at(device::kC1 + l - 1) = std::ldexp(static_cast<float>(balanced), -unit);
    }
    at(device::kInverse) = 1.0F / static_cast<float>(p);
    at(device::kMinusP) = -static_cast<float>(p);
  }
  return table;
}

int exact_limbs(int moduli, std::int64_t depth) {
  const double room = exact::log2_product(moduli) - 1.003 - std::log2(static_cast<double>(depth));
  return exact::limb_count((static_cast<int>(std::floor(room)) + 1) / 2);
}

std::vector<float16> exact_weights(int moduli, const Machine& machine) {
  const exact::Recombination constants = exact::recombination(moduli);
  const auto group = static_cast<std::size_t>(device::Recombine::group(moduli, machine)),
             words = static_cast<std::size_t>(2 * constants.limbs + 2);
  std::vector<float16> weights(group * static_cast<std::size_t>(moduli) * words * group, float16(0.0F));
  for (std::size_t j = 0; j < group; ++j) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(moduli); ++i) {
      for (std::size_t k = 0; k < words; ++k) {
        weights[((j * static_cast<std::size_t>(moduli) + i) * words + k) * group + j] =
            float16(static_cast<float>(constants.weight[i][k]));
      }
    }
  }
  return weights;
}

namespace device {

namespace {

// The words of the product on the device, joined block by block.
class DeviceSource final : public exact::Source {
 public:
  DeviceSource(const Executor& executor, const ExactShape& shape, const Array<float>& words, int limbs)
      : executor_(executor), shape_(shape), words_(words), limbs_(limbs), planes_(is_complex(shape.in) ? 2 : 1) {}

  void fetch(const exact::Block& block, exact::Wide* x) override {
    const bool turned = shape_.by_columns();
    const std::int64_t outer = turned ? block.columns : block.rows, inner = turned ? block.rows : block.columns;
    const std::int64_t length = turned ? shape_.rows() : shape_.n;  // of a line of words
    std::vector<float> host(static_cast<std::size_t>(outer * limbs_ * inner));
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      const std::int64_t row = plane * shape_.m + block.row;
      const std::int64_t first = turned ? block.column * limbs_ * length + row : row * limbs_ * length + block.column;
      read(first, outer, inner, length, host);
      exact::Wide* to = x + plane * block.rows * block.columns;
      parallel_for(block.rows, block.rows * block.columns > 1 << 12, [&](std::int64_t i) {
        const std::int64_t wanted =
            shape_.lower ? std::min(block.columns, block.row + i + 1 - block.column) : block.columns;
        for (std::int64_t j = 0; j < wanted; ++j) {
          const float* limb = host.data() + (turned ? j * limbs_ * inner + i : i * limbs_ * inner + j);
          to[i * block.columns + j] = exact::join(limb, inner, limbs_);
        }
      });
    }
  }

 private:
  void read(std::int64_t first, std::int64_t outer, std::int64_t inner, std::int64_t length,
            std::vector<float>& to) const {
    const Shape shape{outer, limbs_, inner};
    const Strides from{limbs_ * length, length, 1}, dense{limbs_ * inner, inner, 1};
    const Executor host = Executor::host();
    trn::detail::copy_elements({&executor_, words_.data() + first, &shape, &from}, {&host, to.data(), &shape, &dense},
                               sizeof(float));
  }

  const Executor& executor_;
  const ExactShape& shape_;
  const Array<float>& words_;
  std::int64_t limbs_, planes_;
};

class ZeroSource final : public exact::Source {
 public:
  explicit ZeroSource(std::int64_t planes) : planes_(planes) {}
  void fetch(const exact::Block& block, exact::Wide* x) override {
    std::fill(x, x + planes_ * block.rows * block.columns, exact::Wide{});
  }

 private:
  std::int64_t planes_;
};

}  // namespace

void exact_product(const Executor& executor, const ExactArgs& args) {
  const GemmArgs& g = args.g;
  if (args.a.depth() == 0) {
    ZeroSource zero(args.a.planes());
    args.consume(zero);
    return;
  }
  Device& device = device_of(executor);
  // Where op(B) is the conjugate transpose of op(A), its integers are those of the first rows: [Re A, -Im A] of [Re A,
  // -Im A; Im A, Re A].
  const bool same = g.a == g.b && g.m == g.n && g.am == g.bn && g.ak == g.bk &&
                    (!is_complex(g.in) || g.conj_a != g.conj_b) && std::ranges::equal(args.shift_b, args.shift_a);
  ExactShape shape{g.in, args.moduli, g.m, g.n, g.k, g.am, g.ak, same ? 1 : g.bk, same ? 1 : g.bn, g.conj_a, g.conj_b};
  shape.lower = args.lower, shape.same = same, shape.limbs = exact::limb_count(args.bits);
  std::vector<float> offset;
  const auto add_offsets = [&](std::span<const std::int32_t> shifts) {
    for (const std::int32_t s : shifts) offset.push_back(static_cast<float>(exact::exponent_offset(args.a.wide(), s)));
  };
  if (!same) add_offsets(args.shift_b);
  for (std::int64_t plane = 0; plane < args.a.planes(); ++plane) add_offsets(args.shift_a);
  const Array<float> offsets = Array<float>::from_host(executor, {static_cast<std::int64_t>(offset.size())}, offset);
  const int limbs = exact::recombination(args.moduli).limbs;
  const Array<float> words(executor, {shape.rows() * limbs * g.n});
  launch(executor, exact_program, shape,
         {{"a", g.a},
          {"b", g.b},
          {"offsets", offsets.data()},
          constant("table", exact_table(args.moduli, shape.limbs)),
          constant("weights", exact_weights(args.moduli, device.machine())),
          {"limbs", words.data()}});
  DeviceSource source(executor, shape, words, limbs);
  args.consume(source);
}

}  // namespace device

}  // namespace trn::blas
