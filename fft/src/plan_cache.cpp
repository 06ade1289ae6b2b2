// PlanCache: one list, the plan used last in front. Caches hold tens of plans, so a walk along the list costs less than
// a transform.
#include <trn/fft/plan_cache.hpp>

#include <trn/core/error.hpp>

namespace trn::fft {

PlanCache::PlanCache(std::size_t limit) : limit_(limit) {
  require(limit >= 1, "fft.plan_cache: the limit is 0; give room for at least 1 plan");
}

template <Real T> Plan<T> PlanCache::get(const Executor& executor, const Description& description) {
  const auto found = [&] {
    auto it = plans_.begin();
    for (; it != plans_.end(); ++it) {
      const Plan<T>* plan = std::get_if<Plan<T>>(&*it);
      if (plan && plan->executor() == executor && plan->description() == description) break;
    }
    if (it != plans_.end()) plans_.splice(plans_.begin(), plans_, it);
    return it != plans_.end();
  };
  {
    const std::lock_guard lock(mutex_);
    if (found()) {
      ++hits_;
      return std::get<Plan<T>>(plans_.front());
    }
    ++misses_;
  }
  Plan<T> made(executor, description);  // outside the lock: other threads go on
  const std::lock_guard lock(mutex_);
  if (found()) return std::get<Plan<T>>(plans_.front());  // another thread was faster
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

template Plan<float> PlanCache::get<float>(const Executor&, const Description&);
template Plan<double> PlanCache::get<double>(const Executor&, const Description&);

}  // namespace trn::fft
