// Sparse times sparse, and dense times dense at sparse places.
#include <trn/sparse/spgemm.hpp>

#include <cmath>

#include <trn/blas/gemm.hpp>
#include <trn/core/dispatch.hpp>
#include <trn/core/parallel.hpp>
#include <trn/sparse/convert.hpp>
#include <trn/sparse/structure.hpp>

#include "checks.hpp"
#include "host/spgemm.hpp"
#include "scalars.hpp"
#include "sddmm_kernels.hpp"
#include "spgemm_kernels.hpp"

namespace trn::sparse {

namespace {

constexpr std::int64_t kShared = 1 << 16;  // products worth several threads

void check_chain(const char* operation, const Executor& executor, const Executor& a, const Executor& b, Extents left,
                 Extents right) {
  operands::check_owner(operation, "A", executor, a);
  operands::check_owner(operation, "B", executor, b);
  host_only(operation, executor);
  require(left.columns == right.rows, "{}: A is {} x {} and B is {} x {}; A must have as many columns as B rows",
          operation, left.rows, left.columns, right.rows, right.columns);
}

// Rows of A cut by products: part p does rows [rows[p], rows[p + 1]), with room[p] products before it.
struct Cut {
  std::vector<std::int64_t> rows, room;
  std::int64_t products = 0;
};
template <class I> Cut cut_by_products(const char* operation, const PatternRef<I>& a, const PatternRef<I>& b) {
  Cut cut{{0}, {0}, 0};
  std::int64_t since = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int64_t count = 0;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      count += b.offsets[a.indices[k] + 1] - b.offsets[a.indices[k]];
    require(!__builtin_add_overflow(cut.products, count, &cut.products), "{}: the number of products overflows 64 bits",
            operation);
    since += count;
    if (since >= kShared || i + 1 == a.rows) {
      cut.rows.push_back(i + 1), cut.room.push_back(cut.products);
      since = 0;
    }
  }
  return cut;
}

template <Scalar T> int threads_for(const Cut& cut) { return loop_threads(cut.products >= 2 * kShared); }

// What each part of the rows made, put one after another.
template <Scalar T> struct PartRows {
  std::vector<std::int32_t> columns;
  std::vector<T> values;
};

// Rows of C part by part; counts go to `counts`. kValues: with numbers.
template <bool kValues, Scalar T> std::vector<PartRows<T>> product_rows(const PatternRef<std::int32_t>& a, const T* av,
                                                                        const PatternRef<std::int32_t>& b, const T* bv,
                                                                        const Cut& cut, std::int64_t* counts, T alpha) {
  const auto parts = static_cast<std::int64_t>(cut.rows.size()) - 1;
  std::vector<PartRows<T>> pieces(static_cast<std::size_t>(parts));
  const int threads = threads_for<T>(cut);
  struct Worker {
    host::RowProduct<T> row;
    std::vector<std::int32_t> columns;  // of a part, before its size is known
    std::vector<T> values;
  };
  std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(threads));
  for_pieces(parts, threads, [&](std::int64_t p, int worker) {
    auto& own = workers[static_cast<std::size_t>(worker)];
    if (!own) own.reset(new Worker{host::RowProduct<T>(b.columns), {}, {}});
    std::int64_t used = 0;
    for (std::int64_t i = cut.rows[static_cast<std::size_t>(p)]; i < cut.rows[static_cast<std::size_t>(p) + 1]; ++i) {
      std::int64_t most = 0;
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        most += b.offsets[a.indices[k] + 1] - b.offsets[a.indices[k]];
      most = std::min(most, b.columns);
      if (static_cast<std::int64_t>(own->columns.size()) < used + most) {
        const auto size = static_cast<std::size_t>(std::max(used + most, 2 * used));
        own->columns.resize(size);
        if (kValues) own->values.resize(size);
      }
      counts[i] =
          own->row.template row<kValues>(a, av, b, bv, i, own->columns.data() + used, own->values.data() + used, alpha);
      used += counts[i];
    }
    PartRows<T>& piece = pieces[static_cast<std::size_t>(p)];
    piece.columns.assign(own->columns.begin(), own->columns.begin() + used);
    if (kValues) piece.values.assign(own->values.begin(), own->values.begin() + used);
  });
  return pieces;
}

template <Scalar T> Csr<T> product(const Csr<T>& a, const Csr<T>& b, T alpha) {
  const CsrRef<T, std::int32_t> x = host_ref(a), y = host_ref(b);
  const Cut cut = cut_by_products("sparse.spgemm", x, y);
  CsrParts<T, std::int32_t> parts({x.rows, y.columns});
  const auto pieces = product_rows<true, T>(x, x.values, y, y.values, cut, parts.offsets.data(), alpha);
  parts.allocate();
  parallel_for(static_cast<std::int64_t>(pieces.size()), cut.products >= 2 * kShared, [&](std::int64_t p) {
    const std::int64_t to = parts.offsets.data()[cut.rows[static_cast<std::size_t>(p)]];
    const PartRows<T>& piece = pieces[static_cast<std::size_t>(p)];
    std::copy(piece.columns.begin(), piece.columns.end(), parts.indices.data() + to);
    std::copy(piece.values.begin(), piece.values.end(), parts.values.data() + to);
  });
  return parts.done();
}

Pattern<> symbolic(const Pattern<>& a, const Pattern<>& b, std::int64_t& products) {
  const PatternRef<std::int32_t> x = host_ref(a), y = host_ref(b);
  const Cut cut = cut_by_products("sparse.spgemm.plan", x, y);
  products = cut.products;
  CsrParts<float, std::int32_t> parts({x.rows, y.columns});
  const auto pieces = product_rows<false, float>(x, nullptr, y, nullptr, cut, parts.offsets.data(), 1.0F);
  parts.allocate();
  for (std::size_t p = 0; p < pieces.size(); ++p)
    std::copy(pieces[p].columns.begin(), pieces[p].columns.end(),
              parts.indices.data() + parts.offsets.data()[cut.rows[p]]);
  return parts.done().pattern();
}

}  // namespace

template <Scalar T> SpgemmPlan<T>::SpgemmPlan(const Executor& executor, const Pattern<>& a, const Pattern<>& b)
    : a_(a),
      b_(b),
      c_((check_chain("sparse.spgemm.plan", executor, a.executor(), b.executor(), a.extents(), b.extents()),
          symbolic(a, b, products_))) {}

template <Scalar T> Csr<T> SpgemmPlan<T>::execute(T alpha, const Csr<T>& a, const Csr<T>& b) const {
  constexpr const char* operation = "sparse.spgemm.execute";
  require(a.pattern().equals(a_) && b.pattern().equals(b_), "{}: A or B has another pattern than the plan", operation);
  const CsrRef<T, std::int32_t> x = host_ref(a), y = host_ref(b);
  const PatternRef<std::int32_t> c = host_ref(c_);
  Array<T> values = host_array<T>(c.nnz());
  const Cut cut = cut_by_products(operation, x, y);
  const int threads = threads_for<T>(cut);
  std::vector<std::unique_ptr<host::RowProduct<T>>> work(static_cast<std::size_t>(threads));
  for_pieces(static_cast<std::int64_t>(cut.rows.size()) - 1, threads, [&](std::int64_t p, int worker) {
    auto& row = work[static_cast<std::size_t>(worker)];
    if (!row) row = std::make_unique<host::RowProduct<T>>(y.columns);
    for (std::int64_t i = cut.rows[static_cast<std::size_t>(p)]; i < cut.rows[static_cast<std::size_t>(p) + 1]; ++i)
      row->numbers(x, x.values, y, y.values, i, c, values.data(), alpha);
  });
  return Csr<T>(detail::Trusted{}, c_, std::move(values));
}

namespace {

// Checks the operands of a plan before anything is looked at, and counts.
template <Scalar T>
Pattern<> blocks_of_product(const Executor& executor, const Bsr<T>& a, const Bsr<T>& b, std::int64_t& products) {
  constexpr const char* operation = "sparse.spgemm.plan";
  operands::check_owner(operation, "A", executor, a.executor());
  operands::check_owner(operation, "B", executor, b.executor());
  const std::int64_t block = a.block_rows();
  require(a.block_columns() == block && b.block_rows() == block && b.block_columns() == block,
          "{}: blocks of {} x {} and {} x {}; they must be square and of one size", operation, a.block_rows(),
          a.block_columns(), b.block_rows(), b.block_columns());
  require(a.columns() == b.rows(), "{}: A is {} x {} and B is {} x {}; A must have as many columns as B rows",
          operation, a.rows(), a.columns(), b.rows(), b.columns());
  if (executor.family() == Family::Device) {
    if (!std::same_as<T, float>) host_only(operation, executor);
    if (block != 128)
      fail<NotImplemented>("{}: blocks of {} x {}; a device takes 128 x 128: convert with those", operation, block,
                           block);
  }
  const Pattern<> x = a.pattern().to(Executor::host()), y = b.pattern().to(Executor::host());
  return symbolic(x, y, products).to(executor);
}

}  // namespace

template <Scalar T> BlockSpgemmPlan<T>::BlockSpgemmPlan(const Executor& executor, const Bsr<T>& a, const Bsr<T>& b)
    : extents_{a.rows(), b.columns()},
      block_(a.block_rows()),
      inner_(a.columns()),
      a_(a.pattern()),
      b_(b.pattern()),
      c_(blocks_of_product(executor, a, b, report_.products)) {
  report_.host_seconds = 2.0 * static_cast<double>(report_.products) * std::pow(static_cast<double>(block_), 3) / 60e9;
  if constexpr (std::same_as<T, float>) {
    if (executor.family() == Family::Device) {
      const Executor& host = Executor::host();
      BlockSpgemmMade made =
          dispatch(kBlockSpgemmPlan, executor, BlockSpgemmPlanArgs{a_.to(host), b_.to(host), c_.to(host)});
      report_.modelled_seconds = made.modelled_seconds, state_ = std::move(made.state);
    }
  }
}

template <Scalar T> Bsr<T> BlockSpgemmPlan<T>::execute(T alpha, const Bsr<T>& a, const Bsr<T>& b) const {
  constexpr const char* operation = "sparse.spgemm.execute";
  operands::check_owner(operation, "A", c_.executor(), a.executor());
  operands::check_owner(operation, "B", c_.executor(), b.executor());
  const auto same = [](const Pattern<>& x, const Pattern<>& y) {  // one object, or compared on the host
    return x.shares(y) || x.to(Executor::host()).equals(y.to(Executor::host()));
  };
  require(a.block_rows() == block_ && a.block_columns() == block_ && b.block_rows() == block_ &&
              b.block_columns() == block_ && a.extents() == Extents{extents_.rows, inner_} &&
              b.extents() == Extents{inner_, extents_.columns} && same(a.pattern(), a_) && same(b.pattern(), b_),
          "{}: A or B has other blocks than the plan", operation);
  const Executor& executor = c_.executor();
  Array<T> values(executor, {c_.nnz() * block_ * block_});
  if constexpr (std::same_as<T, float>) {
    if (executor.family() == Family::Device) {
      dispatch(kBlockSpgemm, executor,
               BlockSpgemmArgs{state_.get(), alpha, a.values().data(), b.values().data(), values.data()});
      return Bsr<T>(detail::Trusted{}, extents_, block_, block_, c_, std::move(values));
    }
  }
  const PatternRef<std::int32_t> x = host_ref(a_), y = host_ref(b_), z = host_ref(c_);
  const std::int64_t size = block_ * block_;
  const auto block = [&](const T* data, std::int64_t k) {
    return MatrixView<const T>(executor, data + k * size, block_, block_, block_, 1);
  };
  std::vector<bool> touched(static_cast<std::size_t>(z.nnz()), false);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const std::int32_t *begin = z.indices + z.offsets[i], *end = z.indices + z.offsets[i + 1];
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) {
      for (std::int64_t l = y.offsets[x.indices[k]]; l < y.offsets[x.indices[k] + 1]; ++l) {
        const std::int64_t c = std::lower_bound(begin, end, y.indices[l]) - z.indices;
        const bool seen = touched[static_cast<std::size_t>(c)];
        touched[static_cast<std::size_t>(c)] = true;
        (void)blas::gemm(executor, Op::N, Op::N, alpha, block(a.values().data(), k), block(b.values().data(), l),
                         seen ? T(1) : T(0),
                         MatrixView<T>(executor, values.data() + c * size, block_, block_, block_, 1));
      }
    }
  }
  return Bsr<T>(detail::Trusted{}, extents_, block_, block_, c_, std::move(values));
}

template <Scalar T, Index I>
Csr<T, I> spgemm(const Executor& executor, std::type_identity_t<T> alpha, const Csr<T, I>& a, const Csr<T, I>& b) {
  check_chain("sparse.spgemm", executor, a.executor(), b.executor(), a.extents(), b.extents());
  if constexpr (sizeof(I) == 4)
    return product(a, b, alpha);
  else
    return with_index<I>(product(with_index<std::int32_t>(a), with_index<std::int32_t>(b), alpha));
}

template <Scalar T> Csr<T> power(const Executor& executor, const Csr<T>& a, std::int64_t k) {
  check_square("sparse.power", a.extents());
  require(k >= 0, "sparse.power: the exponent is {}; it must be >= 0", k);
  Csr<T> result = identity<T>(executor, a.rows()), square = a;
  for (; k > 0; k >>= 1) {
    if ((k & 1) != 0) result = spgemm<T>(executor, 1, result, square);
    if (k > 1) square = spgemm<T>(executor, 1, square, square);
  }
  return result;
}

template <Scalar T> Csr<T> sddmm(const Executor& executor, std::type_identity_t<T> alpha,
                                 const std::type_identity_t<MatrixView<const T>>& a,
                                 const std::type_identity_t<MatrixView<const T>>& b, std::type_identity_t<T> beta,
                                 const Csr<T>& s) {
  constexpr const char* operation = "sparse.sddmm";
  operands::check_owner(operation, "S", executor, s.executor());
  if (!std::same_as<T, float>) host_only(operation, executor);
  checks::input(operation, "A", executor, a);
  checks::input(operation, "B", executor, b);
  checks::shape(operation, "A", a, s.rows(), a.columns());
  checks::shape(operation, "B", b, a.columns(), s.columns());
  if constexpr (std::same_as<T, float>) {
    if (executor.family() == Family::Device) return dispatch(kSddmm, executor, SddmmArgs{alpha, a, b, beta, s});
  }
  const CsrRef<T, std::int32_t> c = host_ref(s);
  const std::int64_t k = a.columns();
  // Rows of A and columns of B side by side, so that the sums run over contiguous memory.
  std::vector<T> at, bt;
  const T *left = a.data(), *right = b.data();
  std::int64_t left_step = a.row_stride(), right_step = b.column_stride();
  const auto packed = [&](const MatrixView<const T>& m, std::vector<T>& to) {
    to.resize(static_cast<std::size_t>(byte_count({m.rows(), m.columns()}, 1)));
    for (std::int64_t i = 0; i < m.rows(); ++i) {
      for (std::int64_t j = 0; j < m.columns(); ++j)
        to[static_cast<std::size_t>(i * m.columns() + j)] = m.data()[i * m.row_stride() + j * m.column_stride()];
    }
  };
  if (a.column_stride() != 1 && k > 1) packed(a, at), left = at.data(), left_step = k;
  if (b.row_stride() != 1 && k > 1) packed(b.transposed(), bt), right = bt.data(), right_step = k;
  Array<T> values = host_array<T>(c.nnz());
  parallel_for(c.rows, c.nnz() * k >= kShared, [&](std::int64_t i) {
    for (std::int64_t n = c.offsets[i]; n < c.offsets[i + 1]; ++n) {
      const T *x = left + i * left_step, *y = right + c.indices[n] * right_step;
      constexpr int kChains = 8;
      T sums[kChains] = {};
      std::int64_t l = 0;
      for (; l + kChains <= k; l += kChains) {
        for (int q = 0; q < kChains; ++q) sums[q] += host::times(x[l + q], y[l + q]);
      }
      for (; l < k; ++l) sums[l % kChains] += host::times(x[l], y[l]);
      const T sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
      const T scaled = alpha == T(1) ? sum : host::times<T>(alpha, sum);
      values.data()[n] = beta == T(0) ? scaled : scaled + host::times<T>(beta, c.values[n]);
    }
  });
  return Csr<T>(detail::Trusted{}, s.pattern(), std::move(values));
}

#define TRN_SPGEMM(T)                                                                                               \
  template class SpgemmPlan<T>;                                                                                     \
  template class BlockSpgemmPlan<T>;                                                                                \
  template Csr<T, std::int32_t> spgemm(const Executor&, std::type_identity_t<T>, const Csr<T, std::int32_t>&,       \
                                       const Csr<T, std::int32_t>&);                                                \
  template Csr<T, std::int64_t> spgemm(const Executor&, std::type_identity_t<T>, const Csr<T, std::int64_t>&,       \
                                       const Csr<T, std::int64_t>&);                                                \
  template Csr<T> power(const Executor&, const Csr<T>&, std::int64_t);                                              \
  template Csr<T> sddmm(const Executor&, std::type_identity_t<T>, const std::type_identity_t<MatrixView<const T>>&, \
                        const std::type_identity_t<MatrixView<const T>>&, std::type_identity_t<T>, const Csr<T>&);
TRN_SPARSE_SCALARS(TRN_SPGEMM)
#undef TRN_SPGEMM

}  // namespace trn::sparse
