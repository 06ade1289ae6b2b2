// The sign function of a large symmetric matrix: see sign_iteration.hpp.
#include "device/sign_iteration.hpp"

#include <cmath>

#include "device/large_steps.hpp"

namespace trn::solver::device {

Iterated sign(const Executor& executor, Matrix<float>& x, std::int64_t k) {
  constexpr int kMostRounds = 7;
  Iterated done;
  LargeSteps steps(executor, x, k, true);
  if (!steps.begin()) return done;
  done.steps = static_cast<int>(kFirst.size());
  for (int round = 0; round < kMostRounds; ++round) {
    double distance = steps.departure();
    while (distance < 0.5) {  // every eigenvalue is near 1 or -1
      steps.close();
      ++done.steps;
      if (distance < 0.04) {
        done.converged = true;
        return done;
      }
      distance = steps.departure();
    }
    if (!std::isfinite(distance)) return done;
    steps.again();
    done.steps += static_cast<int>(kShort.size());
  }
  return done;
}

}  // namespace trn::solver::device
