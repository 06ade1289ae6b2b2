// Small halves: see small_halves.hpp.
#include "device/small_halves.hpp"

#include <algorithm>
#include <cmath>

#include <trn/blas/gemm_batched.hpp>
#include <trn/solver/split_program.hpp>
#include <trn/tile/launch.hpp>

#include "device/resident_sign.hpp"
#include "kernels/drivers.hpp"

namespace trn::solver::device {

double middle(std::vector<float> d) {
  std::sort(d.begin(), d.end());
  const auto k = static_cast<std::int64_t>(d.size());
  const std::int64_t from = std::max<std::int64_t>(k * 2 / 5, 1), until = std::max(from, k * 3 / 5);
  double best = -1, at = 0;
  for (std::int64_t i = from; i <= until && i < k; ++i) {
    const double low = d[static_cast<std::size_t>(i - 1)], high = d[static_cast<std::size_t>(i)];
    if (high - low > best) best = high - low, at = (low + high) / 2;
  }
  return at;
}

namespace {

constexpr std::int64_t kSide = 128, kLeaf = 16, kMostTiles = 8;
constexpr int kMostTrials = 8, kMostLevels = 64;
constexpr double kOrthonormal = 0.004;  // a step further: 2e-8
constexpr float kFinished = 1e6F;       // in `order`: larger than any trace

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

enum class Fate : std::uint8_t { Open, Leaf, Equal, Dropped };

struct Block : DiagonalBlock {
  std::int64_t index = 0;  // of its lowest eigenvalue
  Fate fate = Fate::Open;
  int trials = 0;
  double sigma = 0, size = 0;  // of this level
};

class TileGroup {
 public:
  TileGroup(DivisionState& state, std::vector<SmallHalf> halves, int depth)
      : state_(state),
        executor_(state.executor),
        halves_(std::move(halves)),
        shape_{kSide, static_cast<std::int64_t>(halves_.size())},
        depth_(depth),
        a_(executor_, {shape_.tiles, kSide, kSide}),
        rows_(executor_, {shape_.tiles, kSide, kSide}),
        failed_(halves_.size()) {}

  std::vector<SmallResult> run(std::vector<Array<float>>& kept) {
    load();
    for (int level = 0; level < kMostLevels; ++level) {
      values_ = a_.to_host();
      if (!choose()) break;
      state_.depth = std::max(state_.depth, depth_ + level + 1);
      divide_level();
    }
    for (Block& b : blocks_) {
      if (b.fate == Fate::Open) failed_[at(b.tile)] = 1, b.fate = Fate::Equal;
    }
    return finish(kept);
  }

 private:
  [[nodiscard]] float value(const DiagonalBlock& b, std::int64_t i, std::int64_t j) const {
    return values_[at((b.tile * kSide + b.first + i) * kSide + b.first + j)];
  }

  void load() {
    const Array<float> sums(executor_, {3, kSide});
    std::vector<float> unit(at(shape_.rows() * kSide));
    for (std::int64_t t = 0; t < shape_.tiles; ++t) {
      const SmallHalf& half = halves_[at(t)];
      std::vector<float> live(kSide);
      std::fill_n(live.begin(), half.k, 1.0F);
      const Array<float> there = Array<float>::from_host(executor_, {kSide}, live);
      tile::launch(
          executor_, window_program, WindowShape{kSide, half.stride},
          {{"a", half.a}, {"live", there.data()}, {"w", a_.data() + t * kSide * kSide}, {"sums", sums.data()}});
      for (std::int64_t i = 0; i < kSide; ++i) unit[at((t * kSide + i) * kSide + i)] = 1;
      Block whole;
      whole.tile = t, whole.k = half.k, whole.index = half.index;
      blocks_.push_back(whole);
    }
    copy(View<const float>(Executor::host(), unit.data(), rows_.shape()), rows_.view());
  }

  // What becomes of every block, and its shift; whether one is to be divided.
  bool choose() {
    bool open = false;
    for (Block& b : blocks_) {
      if (b.fate != Fate::Open) continue;
      if (b.k <= kLeaf) {
        b.fate = Fate::Leaf;
        continue;
      }
      std::vector<float> d;
      double mean = 0, squares = 0, most = 0;
      for (std::int64_t i = 0; i < b.k; ++i) d.push_back(value(b, i, i)), mean += d.back();
      mean /= static_cast<double>(b.k);
      if (b.trials == 0) b.sigma = middle(d);
      if (b.trials == 1) b.sigma = mean;  // all on one side: the mean of the eigenvalues is between them
      // An eigenvalue at sigma to the last bit: elsewhere, a little at first.
      if (b.trials > 1) {
        b.sigma +=
            (state_.random.uniform() < 0.5 ? -1 : 1) * b.size * std::ldexp(1 + state_.random.uniform(), b.trials - 10);
      }
      for (std::int64_t i = 0; i < b.k; ++i) {  // ||A - sigma I||_2 <= min(||.||_F, ||.||_1)
        double row = 0;
        for (std::int64_t j = 0; j < b.k; ++j) {
          const double x = std::abs(value(b, i, j) - (i == j ? b.sigma : 0));
          row += x, squares += x * x;
        }
        most = std::max(most, row);
      }
      b.size = std::min(std::sqrt(squares), most);
      if (state_.negligible == 0) state_.negligible = 4 * 0x1p-24 * (b.size + std::abs(b.sigma));
      if (b.size <= state_.negligible) b.fate = Fate::Equal;
      if (b.fate == Fate::Open && b.trials > kMostTrials) {
        failed_[at(b.tile)] = 1;
        b.fate = Fate::Equal;
      }
      open = open || b.fate == Fate::Open;
    }
    return open;
  }

  void divide_level() {
    // Rows that are in no open block have ids of their own, and S = I, Q = I there.
    std::vector<float> ids(at(shape_.rows())), shift(ids), order(ids), g(at(shape_.rows() * kSide));
    for (std::int64_t r = 0; r < shape_.rows(); ++r) {
      ids[at(r)] = static_cast<float>(-1 - r % kSide);
      shift[at(r)] = values_[at(r * kSide + r % kSide)] - 1;
      order[at(r)] = kFinished;
      g[at(r * kSide + r % kSide)] = 0.5F;
    }
    std::vector<DiagonalBlock> open;
    for (const Block& b : blocks_) {
      if (b.fate != Fate::Open) continue;
      open.push_back(b);
      // The norm of a square Gaussian matrix is below this but once in 1e5 times.
      const double norm = 2 * std::sqrt(static_cast<double>(b.k)) + 5;
      for (std::int64_t i = 0; i < b.k; ++i) {
        ids[shape_.at(b, i)] = static_cast<float>(b.first);
        shift[shape_.at(b, i)] = static_cast<float>(b.sigma);
        order[shape_.at(b, i)] = static_cast<float>(b.k - 2 * i - 1);
        for (std::int64_t j = 0; j < b.k; ++j) {
          g[shape_.at(b, i) * at(kSide) + at(b.first + j)] = static_cast<float>(state_.random() / (2 * norm));
        }
      }
    }
    const ResidentSigns signs = resident_signs(executor_, shape_, a_.data(), ids, shift, open);
    state_.steps += signs.steps * static_cast<int>(open.size());

    const Shape whole{shape_.tiles, kSide, kSide}, vectors{shape_.rows()};
    Array<float> a_out(executor_, whole), rows_out(executor_, whole);
    const Array<float> traces(executor_, vectors), departures(executor_, vectors);
    const Array<float> there_g = Array<float>::from_host(executor_, whole, g),
                       there_ids = Array<float>::from_host(executor_, vectors, ids),
                       there_order = Array<float>::from_host(executor_, vectors, order);
    tile::launch(executor_, split_program, SplitShape{kSide, shape_.tiles, SplitResult::Rows},
                 {{"a", a_.data()},
                  {"s", signs.s.data()},
                  {"g", there_g.data()},
                  {"rows", rows_.data()},
                  {"ids", there_ids.data()},
                  {"order", there_order.data()},
                  {"a_out", a_out.data()},
                  {"rows_out", rows_out.data()},
                  {"trace", traces.data()},
                  {"departure", departures.data()}});
    const std::vector<double> departs = block_sums(shape_, departures.to_host(), open);
    bool orthonormal = true;  // whatever S was, Q^T A Q has A's eigenvalues then
    for (const double d : departs) orthonormal = orthonormal && std::sqrt(d) < kOrthonormal;
    if (orthonormal) std::swap(a_, a_out), std::swap(rows_, rows_out);

    const std::vector<float> found = traces.to_host();
    std::vector<Block> next;
    std::size_t number = 0;
    for (Block b : blocks_) {
      if (b.fate != Fate::Open) {
        next.push_back(b);
        continue;
      }
      const double distance = signs.distances[number++], trace = found[shape_.at(b, 0)];
      const auto above = static_cast<std::int64_t>(std::llround((static_cast<double>(b.k) + trace) / 2));
      if (!orthonormal || !(distance < ResidentSigns::kNear) || !(above > 0 && above < b.k)) {
        // All eigenvalues on one side: the mean is between them. Else past that.
        b.trials = !orthonormal || !(distance < ResidentSigns::kNear) ? std::max(b.trials + 1, 2) : b.trials + 1;
        next.push_back(b);
        continue;
      }
      const double reach = 64 * state_.negligible;
      const std::int64_t below = b.k - above;
      Block high = b, low = b;
      high.k = above, high.index = b.index + below, high.trials = 0;
      low.first = b.first + above, low.k = below, low.trials = 0;
      const Wanted& wanted = state_.wanted;
      if (!(wanted.first < low.index + below && wanted.lo <= b.sigma + reach)) low.fate = Fate::Dropped;
      if (!(wanted.last > high.index && wanted.hi >= b.sigma - reach)) high.fate = Fate::Dropped;
      next.push_back(high), next.push_back(low);
    }
    blocks_ = std::move(next);
  }

  // Eigenvectors of the leaves, and of each tile the wanted ones in ascending order.
  std::vector<SmallResult> finish(std::vector<Array<float>>& kept) {
    std::stable_sort(blocks_.begin(), blocks_.end(), [](const Block& x, const Block& y) {
      return x.tile != y.tile ? x.tile < y.tile : x.index < y.index;
    });
    std::vector<SmallResult> results;
    for (std::int64_t t = 0; t < shape_.tiles; ++t) {
      results.push_back({failed_[at(t)] == 0, -1, 0, MatrixView<const float>(executor_, nullptr, 0, 0, 1, 1)});
    }
    std::vector<float> leaves(at(shape_.rows() * kSide));
    for (const Block& b : blocks_) {
      if (b.fate == Fate::Dropped) continue;
      SmallResult& result = results[at(b.tile)];
      if (result.begin < 0) result.begin = b.index;
      const host::Columns<double> v = b.fate == Fate::Leaf ? leaf(b, result) : in_order(b);
      for (std::int64_t i = 0; i < b.k; ++i) {
        for (std::int64_t j = 0; j < b.k; ++j) {
          leaves[at((b.tile * kSide + b.first + i) * kSide + result.count + j)] = static_cast<float>(v(i, j));
        }
      }
      result.count += b.k;
    }
    const Shape whole{shape_.tiles, kSide, kSide};
    const Array<float> there = Array<float>::from_host(executor_, whole, leaves);
    kept.emplace_back(executor_, whole);
    blas::gemm_strided_batched<float>(
        executor_, {.op_a = Op::T, .op_b = Op::N, .m = kSide, .n = kSide, .k = kSide, .layout = blas::Layout::RowMajor},
        1.0F, there.data(), kSide * kSide, rows_.data(), kSide * kSide, 0.0F, kept.back().data(), kSide * kSide,
        shape_.tiles, {Mode::Tf32x3});
    for (std::int64_t t = 0; t < shape_.tiles; ++t) {
      SmallResult& result = results[at(t)];
      result.begin = std::max<std::int64_t>(result.begin, 0);
      result.rows = MatrixView<const float>(executor_, kept.back().data() + t * kSide * kSide, kSide, kSide, kSide, 1);
    }
    return results;
  }
  // On the host in double, columns ascending.
  host::Columns<double> leaf(const Block& b, SmallResult& result) {
    host::Columns<double> v(b.k, b.k);
    for (std::int64_t i = 0; i < b.k; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) v(i, j) = value(b, i, j);
    }
    std::vector<double> w(at(b.k));
    std::int64_t found = 0;
    const Outcome outcome = host::eigh<double>(
        Executor::host(), {v.view(), VectorView<double>(Executor::host(), w.data(), b.k), EighOptions{}, &found});
    result.converged = result.converged && outcome.ok();
    return v;
  }
  // A - sigma I is negligible: any basis has the eigenvectors; unit vectors in the order of the diagonal.
  host::Columns<double> in_order(const Block& b) const {
    std::vector<std::int64_t> order(at(b.k));
    for (std::int64_t i = 0; i < b.k; ++i) order[at(i)] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t i, std::int64_t j) { return value(b, i, i) < value(b, j, j); });
    host::Columns<double> v(b.k, b.k);
    for (std::int64_t j = 0; j < b.k; ++j) v(order[at(j)], j) = 1;
    return v;
  }

  DivisionState& state_;
  const Executor& executor_;
  std::vector<SmallHalf> halves_;
  ResidentShape shape_;
  int depth_;
  Array<float> a_, rows_;
  std::vector<char> failed_;
  std::vector<Block> blocks_;
  std::vector<float> values_;
};

}  // namespace

std::vector<SmallResult> divide_small(DivisionState& state, const std::vector<SmallHalf>& halves, int depth,
                                      std::vector<Array<float>>& kept) {
  std::vector<SmallResult> results;
  for (std::size_t first = 0; first < halves.size();) {
    std::size_t count = static_cast<std::size_t>(kMostTiles);
    while (count > halves.size() - first) count /= 2;  // few programs serve every number
    const auto from = halves.begin() + static_cast<std::ptrdiff_t>(first);
    TileGroup group(state, {from, from + static_cast<std::ptrdiff_t>(count)}, depth);
    for (SmallResult& r : group.run(kept)) results.push_back(std::move(r));
    first += count;
  }
  return results;
}

}  // namespace trn::solver::device
