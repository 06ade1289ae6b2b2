// PlanCache: one list, the plan used last in front.
#include <trn/tensor/plan_cache.hpp>

#include <algorithm>

#include <trn/core/error.hpp>

namespace trn::tensor {

PlanCache::PlanCache(std::size_t limit) : limit_(limit) {
  require(limit >= 1, "tensor.plan_cache: the limit is 0; give room for at least 1 plan");
}

Plan PlanCache::get(const Executor& executor, const Description& description) {
  require(std::none_of(description.operands.begin(), description.operands.end(),
                       [](const Operand& o) { return o.constant; }),
          "tensor.plan_cache: a description with constants; keep such a plan yourself");
  const auto found = [&] {
    const auto at = std::find_if(plans_.begin(), plans_.end(), [&](const Plan& p) {
      return p.executor() == executor && p.description() == description;
    });
    if (at != plans_.end()) plans_.splice(plans_.begin(), plans_, at);
    return at != plans_.end();
  };
  {
    const std::lock_guard lock(mutex_);
    if (found()) {
      ++hits_;
      return plans_.front();
    }
    ++misses_;
  }
  Plan made(executor, description);  // outside the lock: other threads go on
  const std::lock_guard lock(mutex_);
  if (found()) return plans_.front();  // another thread was faster
  plans_.push_front(made);
  if (plans_.size() > limit_) plans_.pop_back();
  return made;
}

void PlanCache::clear() {
  const std::lock_guard lock(mutex_);
  plans_.clear();
}
std::size_t PlanCache::size() const {
  const std::lock_guard lock(mutex_);
  return plans_.size();
}
std::uint64_t PlanCache::hits() const {
  const std::lock_guard lock(mutex_);
  return hits_;
}
std::uint64_t PlanCache::misses() const {
  const std::lock_guard lock(mutex_);
  return misses_;
}

}  // namespace trn::tensor
