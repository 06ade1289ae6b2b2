// The picture of `trnsci evidence --timeline`: for each kernel, when its engines and its transfers work.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <trn/neuron/report.hpp>

namespace trn::tools {

// The modelled time of a call, cut into equal pieces; of each lane the share of a piece in which it works. Lanes are
// the four engines and, last, transfers: a piece counts as far as some transfer is under way.
class Timeline {
 public:
  static constexpr int kLanes = 5, kPieces = 560;
  static constexpr const char* kNames[kLanes] = {"Tensor", "Vector", "Scalar", "GpSimd", "DMA"};

  // Adds a program's run behind what is there.
  void add(const neuron::RunReport& report);
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] std::array<std::array<double, kPieces>, kLanes> shares() const;

 private:
  double seconds_ = 0;
  std::array<std::vector<std::pair<double, double>>, kLanes> busy_;  // within a lane apart and in order
};

[[nodiscard]] std::string timeline_picture(const std::vector<std::pair<std::string, const Timeline*>>& kernels,
                                           const std::string& machine);

}  // namespace trn::tools
