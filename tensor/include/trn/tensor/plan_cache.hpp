// PlanCache: plans by executor and description, with an owner and a limit. einsum takes one in its options; without one
// every call makes its plan. cuTENSOR: the plan cache of a handle.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>

#include <trn/tensor/plan.hpp>

namespace trn::tensor {

// Safe to share between threads. The plan used longest ago goes first. Descriptions with constants are refused: their
// values are not part of the key.
class PlanCache {
 public:
  explicit PlanCache(std::size_t limit = 64);  // throws InvalidArgument for limit 0
  [[nodiscard]] Plan get(const Executor& executor, const Description& description);
  void clear();
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t hits() const;
  [[nodiscard]] std::uint64_t misses() const;

 private:
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::list<Plan> plans_;  // the one used last in front
  std::uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace trn::tensor
