// The cost models of host and device steps. The constants are fits and tables, good for choosing between paths.
#include "path/cost.hpp"

#include <algorithm>
#include <cmath>

namespace trn::tensor {

namespace {

// Host, one thread: max(flops / rate(m, n, k), bytes / bandwidth) + 0.3 us. The rate falls off as x / (x + x0) in each
// extent: packing and ragged tiles. 64 GF/s for 4-byte elements, half for 8.
constexpr double kHostFlops = 256e9;  // times 1 / element_bytes
constexpr double kHostBandwidth = 10e9, kHostCall = 0.3e-6, kHostTile = 6;

// NeuronCore (trn2): one moving column of a 128 x 128 tile per cycle of 2.4 GHz for 2-byte elements, a fourth of that
// for 4-byte ones and an eighth for 8; at least 64 columns, and half the rate where the array stays cold (k < 64). DMA:
// 332 GB/s in runs of 512 bytes; every DMA holds its ring 0.68 us, 16 rings. Eviction: 128 lanes of 0.96 GHz.
constexpr double kColumnRate = 2.4e9, kDmaBandwidth = 332e9, kEvictionRate = 128 * 0.96e9, kRing = 0.68e-6;

double host_seconds(const StepLogs& s, int element_bytes, double scale, double work) {
  const double m = std::exp2(std::min(60.0, s.a - s.h - s.k)), n = std::exp2(std::min(60.0, s.b - s.h - s.k)),
               k = std::exp2(std::min(60.0, s.k));
  const auto filled = [](double x) { return x / (x + kHostTile); };
  const double rate = kHostFlops / element_bytes * filled(m) * filled(n) * filled(k);
  const double bytes =
      element_bytes * (std::exp2(s.a - scale) + std::exp2(s.b - scale) + std::exp2(s.result() - scale));
  return std::max(2 * work * std::exp2(s.products() - scale) / rate, bytes / kHostBandwidth) +
         kHostCall * std::exp2(-scale);
}

double device_seconds(const StepLogs& s, int element_bytes, double scale, double work) {
  const auto tiles = [](double log2_extent) {  // log2 of the number of 128s
    return log2_extent > 40 ? log2_extent - 7 : std::log2(std::ceil(std::exp2(log2_extent) / 128));
  };
  const double m = s.a - s.h - s.k, n = s.b - s.h - s.k;
  // The longer of m and n on the partitions or moving, whichever is cheaper.
  const auto columns = [&](double still, double moving) { return tiles(still) + std::max(moving, 6.0); };
  const double passes = element_bytes <= 2 ? 1 : element_bytes == 4 ? 4 : 8, cold = s.k < 6 ? 2 : 1;
  const double engine = std::min(columns(m, n), columns(n, m)) + tiles(s.k) + s.h;
  const double bytes =
      element_bytes * (std::exp2(s.a - scale) + std::exp2(s.b - scale) + std::exp2(s.result() - scale));
  return std::max({std::exp2(engine - scale) * passes * work * cold / kColumnRate, bytes / kDmaBandwidth,
                   std::exp2(s.result() - scale) / kEvictionRate, 3 * kRing * std::exp2(-scale)});
}

}  // namespace

double step_seconds(const StepLogs& step, Family family, int element_bytes, double scale, double work) {
  return family == Family::Host ? host_seconds(step, element_bytes, scale, work)
                                : device_seconds(step, element_bytes, scale, work);
}

double moving_seconds(double bytes, Family family) {
  return family == Family::Host ? kHostCall + bytes / kHostBandwidth : 3 * kRing + bytes / kDmaBandwidth;
}

double mode_work(Mode mode, Family family) {
  const bool host = family == Family::Host;
  switch (mode) {
    case Mode::Bf16:
      return 1;
    case Mode::Tf32:
      return host ? 1 : 2;
    case Mode::Tf32x3:
      return 3;
    case Mode::Native:
      return host ? 1 : 4;
    case Mode::Bf16x6:
      return host ? 10 : 6;
    default:
      return 40;
  }
}

double CostModel::products(const StepLogs& step) const { return std::exp2(step.products() - scale_); }

double CostModel::elements(double log2_elements) const { return std::exp2(log2_elements - scale_); }

double CostModel::operator()(const StepLogs& step) const {
  switch (minimize_) {
    case Minimize::Flops:
      return products(step);
    case Minimize::Time:
      return step_seconds(step, family_, element_bytes_, scale_);
    case Minimize::Size: {
      const double size = elements(step.result());
      return size * size;
    }
  }
  return 0;
}

}  // namespace trn::tensor
