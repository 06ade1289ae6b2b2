// Rank-structured matrices: where their blocks are, how they are made, and products on the host.
#include <cmath>

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

template <Scalar T> std::vector<T> evaluated(const char* operation, const Place& p, const Elements<T>& elements) {
  std::vector<T> a(static_cast<std::size_t>(p.rows * p.columns));
  for (std::int64_t j = 0; j < p.columns; ++j) {
    for (std::int64_t i = 0; i < p.rows; ++i) {
      const T value = elements(p.row + i, p.column + j);
      require(std::isfinite(std::abs(value)), "{}: element ({}, {}) is not finite, or its modulus is not", operation,
              p.row + i, p.column + j);
      a[static_cast<std::size_t>(j * p.rows + i)] = value;
    }
  }
  return a;
}

template <Scalar T> void fill_report(detail::RankData<T>& data, const std::vector<double>& norms) {
  RankReport& r = data.report;
  double error = 0, norm = 0;
  for (std::size_t b = 0; b < norms.size(); ++b) {
    const rank::Block<T>& block = data.placed[b].block;
    ++(block.dense ? r.dense_blocks : r.low_rank_blocks);
    r.largest_rank = std::max(r.largest_rank, block.rank);
    r.stored += block.stored();
    error += block.error * block.error, norm += norms[b] * norms[b];
  }
  r.error = std::sqrt(error), r.norm = std::sqrt(norm);
}

}  // namespace

template <Scalar T>
RankMatrix<T>::RankMatrix(RankShape shape, Extents e, const Elements<T>& elements, const RankOptions& o) {
  constexpr const char* operation = "sparse.rank";
  operands::check_enumerator(operation, "RankShape", shape, RankShape::Hodlr);
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
  std::vector<double> norms(places.size());
  direct::tiles(count, [&](std::int64_t b) {
    const Place& p = places[static_cast<std::size_t>(b)];
    std::vector<T> a = evaluated(operation, p, elements);
    double& norm = norms[static_cast<std::size_t>(b)];
    norm = rank::frobenius(p.rows * p.columns, a.data());
    data->placed[static_cast<std::size_t>(b)] = {
        p.row, p.column,
        p.diagonal
            ? rank::dense_block(p.rows, p.columns, std::move(a))
            : rank::compress(p.rows, p.columns, std::move(a), o.tolerance * norm, o.seed + static_cast<unsigned>(b))};
  });
  fill_report(*data, norms);
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
    RankMatrix copy = *this;
    copy.data_ = std::move(moved);
    return copy;
  } else {
    fail<NotImplemented>("sparse.rank.to: devices take float matrices; '{}' has no kernel for this type", to.name());
  }
}

template <Scalar T>
void rank::multiply(const detail::RankData<T>& data, Op op, T alpha, std::int64_t n, const T* x, T* y) {
  const bool plain = op == Op::N;
  const std::int64_t ldx = plain ? data.extents.columns : data.extents.rows,
                     ldy = plain ? data.extents.rows : data.extents.columns;
  for (const rank::Phase& phase : data.phases) {
    const rank::Groups& groups = plain ? phase.by_rows : phase.by_columns;
    direct::tiles(static_cast<std::int64_t>(groups.size()), [&](std::int64_t g) {
      for (const std::int32_t b : groups[static_cast<std::size_t>(g)]) {
        const rank::Placed<T>& p = data.placed[static_cast<std::size_t>(b)];
        rank::multiply(p.block, op, alpha, n, x + (plain ? p.column : p.row), ldx, y + (plain ? p.row : p.column), ldy);
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
  std::vector<T> packed = rank::packed(x), sum(static_cast<std::size_t>(out * y.columns()));
  const bool conjugated = ComplexScalar<T> && op == Op::T;  // A^T x = conj(A^H conj(x))
  if (conjugated) {
    for (T& v : packed) v = conjugate_of(v);
  }
  rank::multiply(*data_, op == Op::N ? Op::N : Op::C, T(1), y.columns(), packed.data(), sum.data());
  for (std::int64_t j = 0; j < y.columns(); ++j) {
    for (std::int64_t i = 0; i < out; ++i) {
      const T value = sum[static_cast<std::size_t>(j * out + i)];
      const T scaled = host::times(alpha, conjugated ? conjugate_of(value) : value);
      T& to = y.data()[i * y.row_stride() + j * y.column_stride()];
      to = beta == T(0) ? scaled : scaled + host::times(beta, to);
    }
  }
}

#define TRN_RANK_MATRIX(T)                                                                     \
  template class RankMatrix<T>;                                                                \
  template void rank::multiply(const detail::RankData<T>&, Op, T, std::int64_t, const T*, T*); \
  static_assert(LinearOperator<RankMatrix<T>, T>);
TRN_SPARSE_SCALARS(TRN_RANK_MATRIX)
#undef TRN_RANK_MATRIX

}  // namespace trn::sparse
