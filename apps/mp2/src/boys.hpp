// Tables for Boys' function F_n(t) = int_0^1 x^2n exp(-t x^2) dx, to be read by vectors of arguments.
//
// Around the grid point t0 nearest to t, at most 1/32 away, F_n(t) = sum_k F_(n+k)(t0) (t0 - t)^k / k!: eight terms,
// the rest is below 1e-17. From the highest order downward F_n = (2 t F_(n+1) + exp(-t)) / (2n + 1), which is stable.
// Beyond kFar exp(-t) is below 1e-38 and F_n = (2n-1)!! / (2t)^n sqrt(pi / t) / 2 to all digits.
#pragma once

#include <cstdint>
#include <vector>

namespace trn::mp2 {

class BoysTable {
 public:
  static constexpr int kTerms = 8;
  static constexpr double kPerUnit = 16, kFar = 90;

  explicit BoysTable(int highest_order);

  // F_(order+k)(t0) / k! at [point * kTerms + k], t0 = point / kPerUnit.
  [[nodiscard]] const double* terms(int order) const { return terms_[static_cast<std::size_t>(order)].data(); }
  [[nodiscard]] const double* decay() const { return decay_.data(); }  // exp(-t0)

 private:
  std::vector<std::vector<double>> terms_;
  std::vector<double> decay_;
};

}  // namespace trn::mp2
