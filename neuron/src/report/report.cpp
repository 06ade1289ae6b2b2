// The two ratios a RunReport answers itself. Both use the whole modelled time, launch overhead included, as the
// denominator, so that they agree with a wall clock around the call.
#include <algorithm>
#include <trn/neuron/report.hpp>

namespace trn::neuron {

// DMA rings may share a name; the busiest one speaks for it, because that is the ring which limits the run.
double RunReport::utilisation(std::string_view lane) const {
  double busy = 0;
  for (const Lane& l : lanes) {
    if (l.name == lane) busy = std::max(busy, l.busy_s);
  }
  return seconds > 0 ? busy / seconds : 0;
}

double RunReport::tensor_roof_fraction() const {
  return seconds > 0 && tensor_peak_flops > 0 ? matmul_flops / seconds / tensor_peak_flops : 0;
}

}  // namespace trn::neuron
