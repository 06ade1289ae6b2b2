// Batches on the host. Factorisations of order up to 32 go in groups to the SIMD kernels of lanes.hpp; what these give
// back, and everything larger, is done by the kernel for one matrix, on every thread.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <trn/core/openmp_pieces.hpp>
#include <trn/core/parallel.hpp>

#include "host/column_major.hpp"
#include "host/lanes/groups.hpp"
#include "host/lanes/lanes.hpp"
#include "kernels/batched.hpp"
#include "kernels/drivers.hpp"
#include "kernels/factorisations.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

// one(p) for every matrix; OpenBLAS stays on the thread that calls it.
template <class F> BatchOutcomes each(std::int64_t count, std::int64_t work, const F& one) {
  constexpr std::int64_t kPiece = 8;
  BatchOutcomes outcomes(static_cast<std::size_t>(count));
  openmp_pieces((count + kPiece - 1) / kPiece, loop_threads(work * count > 1 << 16), [&](std::int64_t piece, int) {
    for (std::int64_t p = piece * kPiece; p < std::min((piece + 1) * kPiece, count); ++p)
      outcomes[static_cast<std::size_t>(p)] = one(p);
  });
  return outcomes;
}

template <class T> VectorView<T> row(const MatrixView<T>& a, std::int64_t p) {
  return {a.executor(), a.data() + p * a.row_stride(), a.columns(), a.column_stride()};
}
template <class T> std::int64_t cubic(const Batch<T>& a) {
  return a.shape().m * a.shape().n * std::min(a.shape().m, a.shape().n);
}
template <class T> bool fits_lanes(const Batch<T>& a) {
  return a.shape().m <= lanes::kOrder && a.shape().n <= lanes::kOrder && a.shape().m > 0 && a.shape().n > 0 &&
         a.count() > 1;
}

}  // namespace

template <Scalar T> BatchOutcomes potrf_batched(const Executor& e, const PotrfBatchArgs<T>& g) {
  const auto one = [&](std::int64_t p) { return potrf<T>(e, {g.uplo, g.a.view(e, p)}); };
  if (!fits_lanes(g.a)) return each(g.a.count(), cubic(g.a), one);
  // The upper factor is the adjoint of the lower one.
  const std::int64_t n = g.a.shape().n;
  const bool upper = g.uplo == Uplo::Upper;
  std::int64_t rs = g.a.row_stride(), cs = g.a.column_stride();
  if (upper) std::swap(rs, cs);
  return lanes::for_groups<T>(g.a.count(), n * n, one, [&](lanes::Group<T>& group) {
    group.pack([&](std::int64_t p) { return g.a[p]; }, n, n, rs, cs, lanes::Keep::Lower, upper);
    lanes::potrf<T>(n, group.data(), group.bad());
    group.unpack([&](std::int64_t p) { return g.a[p]; }, n, n, rs, cs, lanes::Keep::Lower, upper);
  });
}

template <Scalar T> BatchOutcomes getrf_batched(const Executor& e, const GetrfBatchArgs<T>& g) {
  const auto one = [&](std::int64_t p) { return getrf<T>(e, {g.a.view(e, p), row(g.pivots, p)}); };
  if (!fits_lanes(g.a)) return each(g.a.count(), cubic(g.a), one);
  const std::int64_t m = g.a.shape().m, n = g.a.shape().n, k = std::min(m, n);
  const std::int64_t rs = g.a.row_stride(), cs = g.a.column_stride();
  return lanes::for_groups<T>(g.a.count(), m * n, one, [&](lanes::Group<T>& group) {
    int pivots[lanes::kOrder * lanes::kMostLanes];
    group.pack([&](std::int64_t p) { return g.a[p]; }, m, n, rs, cs, lanes::Keep::All, false);
    lanes::getrf<T>(m, n, group.data(), pivots, group.bad());
    group.unpack_lu([&](std::int64_t p) { return g.a[p]; }, m, n, rs, cs, pivots);
    group.for_good([&](std::int64_t p, std::int64_t l) {
      std::int64_t* to = g.pivots.data() + p * g.pivots.row_stride();  // a view's executor is counted: too dear here
      for (std::int64_t i = 0; i < k; ++i) to[i * g.pivots.column_stride()] = pivots[i * group.lanes() + l];
    });
  });
}

template <Scalar T> BatchOutcomes geqrf_batched(const Executor& e, const GeqrfBatchArgs<T>& g) {
  const auto one = [&](std::int64_t p) { return geqrf<T>(e, {g.a.view(e, p), row(g.tau, p)}); };
  if (!fits_lanes(g.a)) return each(g.a.count(), cubic(g.a), one);
  const std::int64_t m = g.a.shape().m, n = g.a.shape().n, k = std::min(m, n);
  const std::int64_t rs = g.a.row_stride(), cs = g.a.column_stride();
  return lanes::for_groups<T>(g.a.count(), (m + 1) * n, one, [&](lanes::Group<T>& group) {
    Real<T>* tau = group.data() + m * n * group.step();
    group.pack([&](std::int64_t p) { return g.a[p]; }, m, n, rs, cs, lanes::Keep::All, false);
    lanes::geqrf<T>(m, n, group.data(), tau, group.bad());
    group.unpack([&](std::int64_t p) { return g.a[p]; }, m, n, rs, cs, lanes::Keep::All, false);
    group.for_good([&](std::int64_t p, std::int64_t l) {
      const auto to = row(g.tau, p);
      for (std::int64_t i = 0; i < k; ++i) to.data()[i * to.stride()] = group.at(tau, i, l);
    });
  });
}

template <Scalar T> BatchOutcomes eigh_batched(const Executor& e, const EighBatchArgs<T>& g) {
  const auto one = [&](std::int64_t p) {
    std::int64_t found = 0;
    return eigh<T>(e, {g.a.view(e, p), row(g.w, p), g.options, &found});
  };
  if constexpr (!blas::ComplexScalar<T>) {
    if (fits_lanes(g.a)) {
      const std::int64_t n = g.a.shape().n;
      const bool upper = g.options.uplo == Uplo::Upper, vectors = g.options.vectors == Vectors::Yes;
      const std::int64_t rs = g.a.row_stride(), cs = g.a.column_stride();
      return lanes::for_groups<T>(g.a.count(), n * (2 * n + 5), one, [&](lanes::Group<T>& group) {
        T *w = group.data() + n * n * group.step(), *scratch = w + n * group.step();
        group.pack([&](std::int64_t p) { return g.a[p]; }, n, n, upper ? cs : rs, upper ? rs : cs, lanes::Keep::Lower,
                   false);
        group.mirror(n);
        lanes::eigh<T>(n, group.data(), w, vectors, scratch, group.bad());
        group.for_good([&](std::int64_t p, std::int64_t l) {
          std::int64_t order[lanes::kOrder];
          for (std::int64_t i = 0; i < n; ++i) order[i] = i;
          std::sort(order, order + n,
                    [&](std::int64_t i, std::int64_t j) { return group.at(w, i, l) < group.at(w, j, l); });
          const auto to = row(g.w, p);
          T* a = g.a[p];
          for (std::int64_t j = 0; j < n; ++j) {
            to.data()[j * to.stride()] = group.at(w, order[j], l);
            if (!vectors) continue;
            for (std::int64_t i = 0; i < n; ++i) a[i * rs + j * cs] = group.at(group.data(), order[j] * n + i, l);
          }
        });
      });
    }
  }
  return each(g.a.count(), 10 * cubic(g.a), one);
}

template <Scalar T> BatchOutcomes potrs_batched(const Executor& e, const PotrsBatchArgs<T>& g) {
  return each(g.b.count(), g.factors.shape().n * g.factors.shape().n * g.b.shape().n, [&](std::int64_t p) {
    return potrs<T>(e, {g.uplo, g.factors.view(e, p), g.b.view(e, p)});
  });
}

template <Scalar T> BatchOutcomes getrs_batched(const Executor& e, const GetrsBatchArgs<T>& g) {
  return each(g.b.count(), g.factors.shape().n * g.factors.shape().n * g.b.shape().n, [&](std::int64_t p) {
    return getrs<T>(e, {g.op, g.factors.view(e, p), row(g.pivots, p), g.b.view(e, p)});
  });
}

namespace {

// The inverse of what lies in `to` already: getrf's factors.
template <class T> Outcome invert(const Executor& e, const MatrixView<T>& to, const ConstPivots& pivots) {
  const Outcome outcome = getri<T>(e, {to, pivots});
  if (!outcome.ok()) fill(to, not_a_number<T>());
  return outcome;
}

}  // namespace

template <Scalar T> BatchOutcomes getri_batched(const Executor& e, const GetriBatchArgs<T>& g) {
  return each(g.inverses.count(), cubic(g.inverses), [&](std::int64_t p) {
    copy_part(g.factors.view(e, p), g.inverses.view(e, p));
    return invert(e, g.inverses.view(e, p), row(g.pivots, p));
  });
}

template <Scalar T> BatchOutcomes matinv_batched(const Executor& e, const MatinvBatchArgs<T>& g) {
  const std::int64_t n = g.a.shape().n, count = g.a.count();
  for (std::int64_t p = 0; p < count; ++p) copy_part(g.a.view(e, p), g.inverses.view(e, p));
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(count * n));
  const MatrixView<std::int64_t> rows(e, pivots.data(), count, n, n, 1);
  const BatchOutcomes factored = getrf_batched<T>(e, {g.inverses, rows});
  return each(count, cubic(g.a), [&](std::int64_t p) {
    const Outcome& before = factored[static_cast<std::size_t>(p)];
    if (before.ok()) return invert(e, g.inverses.view(e, p), ConstPivots(row(rows, p)));
    fill(g.inverses.view(e, p), not_a_number<T>());
    return before;
  });
}

template <Scalar T> BatchOutcomes gels_batched(const Executor& e, const GelsBatchArgs<T>& g) {
  const std::int64_t m = g.a.shape().m, n = g.a.shape().n, count = g.a.count();
  std::vector<T> tau(static_cast<std::size_t>(count * n));
  const MatrixView<T> rows(e, tau.data(), count, n, n, 1);
  const BatchOutcomes factored = geqrf_batched<T>(e, {g.a, rows});
  return each(count, m * n * g.b.shape().n, [&](std::int64_t p) -> Outcome {
    const MatrixView<T> a = g.a.view(e, p), b = g.b.view(e, p);
    const auto refuse = [&](const Outcome& outcome) {
      fill(b, not_a_number<T>());
      return outcome;
    };
    if (!factored[static_cast<std::size_t>(p)].ok()) return refuse(factored[static_cast<std::size_t>(p)]);
    if (const Outcome looked = finite(b); !looked.ok()) return refuse(looked);
    for (std::int64_t i = 0; i < n; ++i) {
      if (element(a, i, i) == T(0)) return refuse({Status::Singular, i});
    }
    if (n == 0 || b.columns() == 0) return {};
    const Outcome turned = ormqr<T>(e, {Side::Left, Op::C, a, VectorView<const T>(row(rows, p)), b});
    if (!turned.ok()) return refuse(turned);
    const auto top = b.block(0, 0, n, b.columns());
    return trtrs<T>(e, {Uplo::Upper, Op::N, Diag::NonUnit, a.block(0, 0, n, n), top});
  });
}

template <Scalar T> BatchOutcomes svd_batched(const Executor& e, const SvdBatchArgs<T>& g) {
  return each(g.a.count(), 20 * cubic(g.a), [&](std::int64_t p) {
    const MatrixView<T> u = g.u.view(e, p), vh = g.vh.view(e, p);
    return svd<T>(e, {g.a.view(e, p), row(g.s, p), &u, &vh});
  });
}

#define TRN_BATCHED(T)                                                               \
  template BatchOutcomes potrf_batched(const Executor&, const PotrfBatchArgs<T>&);   \
  template BatchOutcomes potrs_batched(const Executor&, const PotrsBatchArgs<T>&);   \
  template BatchOutcomes getrf_batched(const Executor&, const GetrfBatchArgs<T>&);   \
  template BatchOutcomes getrs_batched(const Executor&, const GetrsBatchArgs<T>&);   \
  template BatchOutcomes getri_batched(const Executor&, const GetriBatchArgs<T>&);   \
  template BatchOutcomes matinv_batched(const Executor&, const MatinvBatchArgs<T>&); \
  template BatchOutcomes geqrf_batched(const Executor&, const GeqrfBatchArgs<T>&);   \
  template BatchOutcomes gels_batched(const Executor&, const GelsBatchArgs<T>&);     \
  template BatchOutcomes eigh_batched(const Executor&, const EighBatchArgs<T>&);     \
  template BatchOutcomes svd_batched(const Executor&, const SvdBatchArgs<T>&);
TRN_SOLVER_SCALARS(TRN_BATCHED)
#undef TRN_BATCHED

}  // namespace trn::solver::host
