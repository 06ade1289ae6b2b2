// Every distribution with parameters and its truth: what the statistics tests and the statistics tool run.
#pragma once

#include <optional>
#include <string>
#include <trn/rand/generator.hpp>

#include "statistics.hpp"

namespace trn::rand::test {

struct DistributionCase {
  std::string name;
  std::function<std::vector<double>(Generator&, std::int64_t)> draw;
  std::function<Real(Real)> cdf;                 // continuous
  std::function<Masses()> masses;                // counts
  std::optional<double> mean, variance, fourth;  // moments where they exist: fourth is the central one
};

struct PValue {
  std::string test;
  double p;
};

[[nodiscard]] std::vector<DistributionCase> distribution_cases();

// Kolmogorov-Smirnov, mean and variance against their own standard errors, the number of values in either tail beyond
// the quantile 20 / n or 1e-5, whichever is larger; for counts chi-square, mean and variance.
[[nodiscard]] std::vector<PValue> p_values(const DistributionCase& c, const std::vector<double>& values);

}  // namespace trn::rand::test
