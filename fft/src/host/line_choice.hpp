// How a single line of a length is to be done: every way that there is, and its estimated cost.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "line_plan.hpp"

namespace trn::fft::host {

constexpr std::int64_t ceiling(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The ways to do a line and their estimated costs in vector operations.
struct Choice {
  double cost = std::numeric_limits<double>::infinity();
  LineKind kind = LineKind::Scalar;
  std::int64_t n1 = 1, n2 = 1;  // n2: the inner length for Rader and Bluestein
  int lanes = 1;
  std::vector<int> radices = {};  // Steps
  [[nodiscard]] bool is_whole() const { return kind == LineKind::Whole || kind == LineKind::Steps; }
};

class Chooser {
 public:
  // max_lanes: of the widest vector.
  Chooser(int max_lanes, std::int64_t real_bytes) : max_lanes_(max_lanes), real_bytes_(real_bytes) {}
  [[nodiscard]] Choice best(std::int64_t n);
  // Of a line's plan, and of what is needed to make it.
  [[nodiscard]] double bytes(std::int64_t n);

 private:
  [[nodiscard]] double whole_cost(std::int64_t n) const;  // 0: there is no such line
  [[nodiscard]] double weight(int lanes) const;
  [[nodiscard]] double block_cost(std::int64_t n, int lanes) const;
  bool offer_steps(Choice& choice, std::int64_t n) const;  // whether there are steps
  [[nodiscard]] double narrow_factor(std::int64_t leg, int radix, int numbers, bool is_first, bool is_last) const;
  void offer_woven(Choice& choice, std::int64_t n);
  void offer_four_steps(Choice& choice, std::int64_t n) const;
  void offer_split(Choice& choice, std::int64_t n1, std::int64_t n2);
  void offer_rader(Choice& choice, std::int64_t n);
  void offer_bluestein(Choice& choice, std::int64_t n);

  int max_lanes_;
  std::int64_t real_bytes_;
  std::map<std::int64_t, Choice> known_;
};

}  // namespace trn::fft::host
