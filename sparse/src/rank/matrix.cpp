// Rank-structured matrices: where their blocks are, how they are made, and products on the host.
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>

#include <trn/core/enumerators.hpp>
#include <trn/core/linear_operator.hpp>

#include "checks.hpp"
#include "direct/dense.hpp"
#include "host_data.hpp"
#include "operators.hpp"
#include "rank/pieces.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace {

struct Place {
  std::int64_t row, column, rows, columns;
  bool diagonal;
};

// All tiles, row after row; one phase.
std::vector<Place> tile_places(Extents e, std::int64_t tile, std::vector<rank::Phase>& phases) {
  std::vector<Place> places;
  rank::Phase phase;
  const std::int64_t down = (e.rows + tile - 1) / tile, across = (e.columns + tile - 1) / tile;
  phase.by_rows.resize(static_cast<std::size_t>(down)), phase.by_columns.resize(static_cast<std::size_t>(across));
  for (std::int64_t i = 0; i < down; ++i) {
    for (std::int64_t j = 0; j < across; ++j) {
      const auto number = static_cast<std::int32_t>(places.size());
      places.push_back(
          {i * tile, j * tile, std::min(tile, e.rows - i * tile), std::min(tile, e.columns - j * tile), i == j});
      phase.by_rows[static_cast<std::size_t>(i)].push_back(number);
      phase.by_columns[static_cast<std::size_t>(j)].push_back(number);
    }
  }
  phases.push_back(std::move(phase));
  return places;
}

// Level by level, the smallest blocks on the diagonal first: [begin, end) is halved while it is longer than a tile.
// The order of the blocks of a node is what factor_halves() reads: upper right, lower left.
void halves(std::int64_t begin, std::int64_t end, std::int64_t tile, std::size_t level, std::vector<Place>& places,
            std::vector<rank::Phase>& phases) {
  const auto add = [&](std::size_t phase, const Place& p) {
    if (phases.size() <= phase) phases.resize(phase + 1);
    const auto number = static_cast<std::int32_t>(places.size());
    phases[phase].by_rows.push_back({number}), phases[phase].by_columns.push_back({number});
    places.push_back(p);
  };
  if (end - begin <= tile) {
    if (end > begin) add(0, {begin, begin, end - begin, end - begin, true});
    return;
  }
  const std::int64_t middle = begin + (end - begin) / 2;
  add(level, {begin, middle, middle - begin, end - middle, false});
  add(level, {middle, begin, end - middle, middle - begin, false});
  halves(begin, middle, tile, level + 1, places, phases);
  halves(middle, end, tile, level + 1, places, phases);
}

template <Scalar T> T element_of(const char* operation, const Elements<T>& elements, std::int64_t i, std::int64_t j) {
  const T value = elements(i, j);
  require(std::isfinite(std::abs(value)), "{}: element ({}, {}) is not finite, or its modulus is not", operation, i, j);
  return value;
}

template <Scalar T> std::vector<T> evaluated(const char* operation, const Place& p, const Elements<T>& elements) {
  std::vector<T> a(static_cast<std::size_t>(p.rows * p.columns));
  for (std::int64_t j = 0; j < p.columns; ++j) {
    for (std::int64_t i = 0; i < p.rows; ++i)
      a[static_cast<std::size_t>(j * p.rows + i)] = element_of(operation, elements, p.row + i, p.column + j);
  }
  return a;
}

// A block as the options want it; its norm, and the elements that were evaluated.
struct Made {
  double norm = 0;
  std::int64_t evaluated = 0;
};
template <Scalar T> rank::Block<T> made_block(const char* operation, const Place& p, const Elements<T>& elements,
                                              const RankOptions& o, std::uint64_t seed, Made& made) {
  if (o.compression == RankCompression::Sampled && !p.diagonal && std::min(p.rows, p.columns) > 0) {
    const std::function<T(std::int64_t, std::int64_t)> element = [&](std::int64_t i, std::int64_t j) {
      ++made.evaluated;
      return element_of(operation, elements, p.row + i, p.column + j);
    };
    if (auto block = rank::compress_sampled<T>(p.rows, p.columns, element, o.tolerance, seed, made.norm))
      return *std::move(block);
  }
  std::vector<T> a = evaluated(operation, p, elements);
  made.norm = rank::frobenius(p.rows * p.columns, a.data());
  made.evaluated += p.rows * p.columns;
  if (p.diagonal) return rank::dense_block(p.rows, p.columns, std::move(a));
  return rank::compress(p.rows, p.columns, std::move(a), o.tolerance * made.norm, seed);
}

// Where each group's work space begins; blocks of a group share it. Returns what all of them need.
template <Scalar T> std::int64_t place_work(const std::vector<rank::Placed<T>>& placed, const rank::Groups& groups,
                                            std::vector<std::int64_t>& at) {
  std::int64_t sum = 0;
  for (const auto& group : groups) {
    at.push_back(sum);
    std::int64_t most = 0;
    for (const std::int32_t b : group) most = std::max(most, placed[static_cast<std::size_t>(b)].block.rank);
    sum += most;
  }
  return sum;
}

template <Scalar T> void fill_report(detail::RankData<T>& data, const std::vector<Made>& made) {
  RankReport& r = data.report;
  for (std::size_t b = 0; b < made.size(); ++b) {
    const rank::Block<T>& block = data.placed[b].block;
    ++(block.dense ? r.dense_blocks : r.low_rank_blocks);
    r.largest_rank = std::max(r.largest_rank, block.rank);
    r.stored += block.stored();
    r.evaluated += made[b].evaluated;
    r.error = std::hypot(r.error, block.error), r.norm = std::hypot(r.norm, made[b].norm);
  }
}

}  // namespace

template <Scalar T>
RankMatrix<T>::RankMatrix(RankShape shape, Extents e, const Elements<T>& elements, const RankOptions& o) {
  constexpr const char* operation = "sparse.rank";
  operands::check_enumerator(operation, "RankShape", shape, RankShape::Hodlr);
  operands::check_enumerator(operation, "RankCompression", o.compression, RankCompression::Sampled);
  require(e.rows >= 0 && e.columns >= 0, "{}: extents are {} x {}; both must be >= 0", operation, e.rows, e.columns);
  require(shape == RankShape::Blr || e.rows == e.columns, "{}: a hodlr matrix is square; this one is {} x {}",
          operation, e.rows, e.columns);
  require(o.tolerance > 0 && o.tolerance < 1, "{}: tolerance {}; above 0 and below 1", operation, o.tolerance);
  require(o.tile >= 1 && o.tile <= 32768, "{}: tiles of {} rows; from 1 to 32768", operation, o.tile);
  require(std::max(e.rows, e.columns) <= kMostExtent<std::int32_t> / 64,
          "{}: {} x {} is more than OpenBLAS's integers count", operation, e.rows, e.columns);
  auto data = std::make_shared<detail::RankData<T>>(detail::RankData<T>{shape, e, o, {}, {}, {}});
  std::vector<Place> places;
  if (shape == RankShape::Blr)
    places = tile_places(e, o.tile, data->phases);
  else
    halves(0, e.rows, o.tile, 1, places, data->phases);
  const auto count = static_cast<std::int64_t>(places.size());
  data->placed.resize(places.size());
  std::vector<Made> made(places.size());
  // Of several blocks that are refused the first one is told, whichever thread comes first: those before it all run.
  std::atomic<std::int64_t> first_refused = count;
  std::exception_ptr refusal;
  std::mutex mutex;
  direct::tiles(count, [&](std::int64_t b) {
    if (b > first_refused) return;
    const Place& p = places[static_cast<std::size_t>(b)];
    try {
      data->placed[static_cast<std::size_t>(b)] = {
          p.row, p.column,
          made_block(operation, p, elements, o, o.seed + static_cast<unsigned>(b), made[static_cast<std::size_t>(b)])};
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (b < first_refused) first_refused = b, refusal = std::current_exception();
    }
  });
  if (refusal) std::rethrow_exception(refusal);
  fill_report(*data, made);
  for (rank::Phase& phase : data->phases) {
    data->work = std::max({data->work, place_work(data->placed, phase.by_rows, phase.rows_at),
                           place_work(data->placed, phase.by_columns, phase.columns_at)});
  }
  data->space.resize(static_cast<std::size_t>((e.rows + e.columns + data->work) * rank::kPanel));
  data_ = std::move(data);
}

template <Scalar T> RankMatrix<T>::RankMatrix(RankShape shape, const MatrixView<const T>& a, const RankOptions& o)
    : RankMatrix(
          shape, {a.rows(), a.columns()},
          [&] {
            host_only("sparse.rank", a.executor());
            checks::input("sparse.rank", "A", a.executor(), a);
            return [a](std::int64_t i, std::int64_t j) { return a.data()[i * a.row_stride() + j * a.column_stride()]; };
          }(),
          o) {}

template <Scalar T> std::int64_t RankMatrix<T>::rows() const { return data_->extents.rows; }
template <Scalar T> std::int64_t RankMatrix<T>::columns() const { return data_->extents.columns; }
template <Scalar T> const Executor& RankMatrix<T>::executor() const { return data_->executor; }
template <Scalar T> const RankReport& RankMatrix<T>::report() const { return data_->report; }
template <Scalar T> RankShape RankMatrix<T>::shape() const { return data_->shape; }

template <Scalar T> RankMatrix<T> RankMatrix<T>::to(const Executor& to) const {
  if (to.family() == Family::Host) return host_only("sparse.rank.to", executor()), *this;
  host_only("sparse.rank.to", executor());
  if constexpr (std::same_as<T, float>) {
    auto moved = std::make_shared<detail::RankData<T>>(*data_);
    moved->device = rank::upload(to, *data_);
    moved->executor = to;
    moved->space.clear();
    RankMatrix copy = *this;
    copy.data_ = std::move(moved);
    return copy;
  } else {
    fail<NotImplemented>("sparse.rank.to: devices take float matrices; '{}' has no kernel for this type", to.name());
  }
}

template <Scalar T>
void rank::multiply(const detail::RankData<T>& data, Op op, T alpha, std::int64_t n, const T* x, T* y, T* work) {
  const bool plain = op == Op::N;
  const std::int64_t ldx = plain ? data.extents.columns : data.extents.rows,
                     ldy = plain ? data.extents.rows : data.extents.columns;
  for (const rank::Phase& phase : data.phases) {
    const rank::Groups& groups = plain ? phase.by_rows : phase.by_columns;
    const std::vector<std::int64_t>& at = plain ? phase.rows_at : phase.columns_at;
    direct::tiles(static_cast<std::int64_t>(groups.size()), [&](std::int64_t g) {
      for (const std::int32_t b : groups[static_cast<std::size_t>(g)]) {
        const rank::Placed<T>& p = data.placed[static_cast<std::size_t>(b)];
        rank::multiply(p.block, op, alpha, n, x + (plain ? p.column : p.row), ldx, y + (plain ? p.row : p.column), ldy,
                       work + at[static_cast<std::size_t>(g)] * n);
      }
    });
  }
}

template <Scalar T>
void RankMatrix<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  constexpr const char* operation = "sparse.rank.apply";
  operands::check_enumerator(operation, "Op", op, Op::C);
  const std::int64_t out = op == Op::N ? rows() : columns(), in = op == Op::N ? columns() : rows();
  checks::input(operation, "x", executor(), x);
  checks::output(operation, "y", executor(), y);
  checks::shape(operation, "x", x, in, y.columns());
  checks::shape(operation, "y", y, out, x.columns());
  checks::apart(operation, "x", x, "y", y);
  if constexpr (std::same_as<T, float>) {
    if (data_->device) {
      if (op != Op::N) fail<NotImplemented>("{}: devices have op N; make the transpose a matrix of its own", operation);
      return rank::multiply_on_device(*data_, alpha, x, beta, y);
    }
  }
  const bool conjugated = ComplexScalar<T> && op == Op::T;  // A^T x = conj(A^H conj(x))
  T *packed = data_->space.data(), *sum = packed + in * rank::kPanel, *work = sum + out * rank::kPanel;
  for (std::int64_t first = 0; first < y.columns(); first += rank::kPanel) {
    const std::int64_t n = std::min(rank::kPanel, y.columns() - first);
    rank::pack(x, first, n, packed);
    if (conjugated) {
      for (std::int64_t k = 0; k < in * n; ++k) packed[k] = conjugate_of(packed[k]);
    }
    std::fill_n(sum, out * n, T(0));
    rank::multiply(*data_, op == Op::N ? Op::N : Op::C, T(1), n, packed, sum, work);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < out; ++i) {
        const T value = sum[j * out + i];
        const T scaled = host::times(alpha, conjugated ? conjugate_of(value) : value);
        T& to = y.data()[i * y.row_stride() + (first + j) * y.column_stride()];
        to = beta == T(0) ? scaled : scaled + host::times(beta, to);
      }
    }
  }
}

#define TRN_RANK_MATRIX(T)                                                                         \
  template class RankMatrix<T>;                                                                    \
  template void rank::multiply(const detail::RankData<T>&, Op, T, std::int64_t, const T*, T*, T*); \
  static_assert(LinearOperator<RankMatrix<T>, T>);
TRN_SPARSE_SCALARS(TRN_RANK_MATRIX)
#undef TRN_RANK_MATRIX

}  // namespace trn::sparse
