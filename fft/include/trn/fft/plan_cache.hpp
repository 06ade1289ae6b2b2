// PlanCache: plans by executor and description, with an owner and a limit. Functions in the NumPy manner take one in
// their options; without one every call makes its plan. There is no hidden global cache: whoever makes the cache
// decides its size and its end.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <variant>

#include <trn/fft/plan.hpp>

namespace trn::fft {

// Safe to share between threads. The plan used longest ago goes first.
class PlanCache {
 public:
  // Throws InvalidArgument for limit 0.
  explicit PlanCache(std::size_t limit = 64);
  template <Real T> [[nodiscard]] Plan<T> get(const Executor& executor, const Description& description);
  void clear();
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t hits() const;
  [[nodiscard]] std::uint64_t misses() const;

 private:
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::list<std::variant<Plan<float>, Plan<double>>> plans_;  // the one used last in front
  std::uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace trn::fft
