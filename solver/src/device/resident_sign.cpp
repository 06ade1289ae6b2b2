// Sign functions by the resident programs: see resident_sign.hpp.
#include "device/resident_sign.hpp"

#include <algorithm>
#include <cmath>

#include <trn/solver/sign_program.hpp>
#include <trn/tile/launch.hpp>

#include "device/sign_schedule.hpp"

namespace trn::solver::device {

namespace {
constexpr int kMostRounds = 14;
}

std::vector<double> block_sums(const ResidentShape& shape, const std::vector<float>& rows,
                               const std::vector<DiagonalBlock>& blocks) {
  std::vector<double> sums;
  for (const DiagonalBlock& block : blocks) {
    double sum = 0;
    for (std::int64_t i = 0; i < block.k; ++i) sum += rows[shape.at(block, i)];
    sums.push_back(sum);
  }
  return sums;
}

ResidentSigns resident_signs(const Executor& executor, const ResidentShape& shape, const float* a,
                             const std::vector<float>& ids, const std::vector<float>& shift,
                             const std::vector<DiagonalBlock>& blocks) {
  const Shape whole{shape.tiles, shape.n, shape.n}, rows{shape.rows()};
  ResidentSigns done{Array<float>(executor, whole), {}};
  Array<float> next(executor, whole);
  const Array<float> departures(executor, rows), there_ids = Array<float>::from_host(executor, rows, ids),
                                                 there_shift = Array<float>::from_host(executor, rows, shift);
  const auto run = [&](SignStage stage, const float* x, int steps) {
    tile::launch(executor, sign_program, SignShape{shape.n, shape.tiles, stage},
                 {{"a", x},
                  {"ids", there_ids.data()},
                  {"shift", there_shift.data()},
                  {"s", next.data()},
                  {"departure", departures.data()}});
    std::swap(done.s, next);
    done.steps += steps;
    done.distances = block_sums(shape, departures.to_host(), blocks);
    double worst = 0;
    for (double& x2 : done.distances) {
      x2 = std::sqrt(x2);
      if (!(x2 <= worst)) worst = x2;
    }
    return worst;
  };
  double worst = run(SignStage::First, a, static_cast<int>(kFirst.size()) + 1);
  for (int round = 0; round < kMostRounds && std::isfinite(worst) && worst >= ResidentSigns::kNear; ++round) {
    const bool near = worst < 0.5;
    worst = run(near ? SignStage::Closing : SignStage::Short, done.s.data(),
                near ? 1 : static_cast<int>(kShort.size()) + 1);
  }
  return done;
}

}  // namespace trn::solver::device
