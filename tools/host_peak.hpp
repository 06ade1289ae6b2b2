// The host's arithmetic roof: what all cores reach on fused multiply-adds that never leave registers.
#pragma once

namespace trn::tools {

struct HostPeak {
  double fp32_flops, fp64_flops;
};
// Measured once per process, in a few tens of milliseconds.
[[nodiscard]] const HostPeak& host_peak();

}  // namespace trn::tools
