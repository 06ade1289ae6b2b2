// The calls of silicon_calls.hpp. Operands are random and the same everywhere.
#include "silicon_calls.hpp"

#include <fmt/format.h>

#include <complex>
#include <random>
#include <set>

#include <trn/blas/narrow.hpp>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/fft/convolve.hpp>
#include <trn/fft/cosine.hpp>
#include <trn/fft/points_program.hpp>
#include <trn/fft/stft.hpp>
#include <trn/rand/raw64.hpp>
#include <trn/rand/uniform.hpp>
#include <trn/solver/batched.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/fused_krylov.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/svd.hpp>
#include <trn/solver/triangular.hpp>
#include <trn/sparse/attention.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/rank_structured.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/triangular.hpp>
#include <trn/sparse/tridiagonal.hpp>
#include <trn/tile/launch.hpp>

#include "blas_case.hpp"
#include "einsum_case.hpp"
#include "solver_symbols.hpp"

namespace trn::tools::silicon {

namespace {

constexpr const char* kTypes[] = {"fp32", "fp64", "complex64", "complex128"};

std::vector<float> numbers(std::int64_t n, int seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::normal_distribution<double> normal;
  std::vector<float> all(static_cast<std::size_t>(n));
  for (float& x : all) x = static_cast<float>(normal(random));
  return all;
}
Array<float> array(const Executor& e, std::int64_t n, int seed = 1) {
  return Array<float>::from_host(e, {n}, numbers(n, seed));
}
Array<std::complex<float>> complex_array(const Executor& e, std::int64_t n) {
  const std::vector<float> re = numbers(n, 1), im = numbers(n, 2);
  std::vector<std::complex<float>> all(re.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {re[i], im[i]};
  return Array<std::complex<float>>::from_host(e, {n}, all);
}
Matrix<float> matrix(const Executor& e, std::int64_t rows, std::int64_t columns, int seed = 1) {
  return Matrix<float>::from_host(e, rows, columns, numbers(rows * columns, seed));
}
// a_ij = 1 / (1 + |i - j|) + 2 (i = j) is positive definite: the first term's diagonals fall and are convex.
std::vector<float> definite(std::int64_t n) {
  std::vector<float> all(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      all[static_cast<std::size_t>(i * n + j)] = 1 / static_cast<float>(1 + std::abs(i - j)) + (i == j ? 2.0F : 0.0F);
    }
  }
  return all;
}
Matrix<float> definite_matrix(const Executor& e, std::int64_t n) {
  return Matrix<float>::from_host(e, n, n, definite(n));
}
template <class T> VectorView<T> whole(const Array<T>& x) { return x.view(); }

// Each row for each type: as it is, or in mode exact where that is what a device has.
void add_blas(std::vector<Call>& all) {
  std::vector<BlasRow> rows = blas_rows();
  rows.insert(rows.begin(), blas_gemm_row());
  for (const BlasRow& row : rows) {
    for (std::size_t type = 0; type < std::size(kTypes); ++type) {
      if (row.make[type] == nullptr || row.scalar) continue;
      all.push_back({fmt::format("{} {}", row.name, kTypes[type]), [make = row.make[type]](const Executor& e) {
                       BlasSize size{20, 16, 12, 3};
                       try {
                         (void)make(e, size).call();
                       } catch (const NotImplemented&) {
                         size.precision = Mode::Exact;
                         (void)make(e, size).call();
                       }
                     }});
    }
  }
  all.push_back({"blas.axpy bf16, stochastic", [](const Executor& e) {
                   const Array<bfloat16> y =
                       Array<bfloat16>::from_host(e, {300}, std::vector<bfloat16>(300, bfloat16(1)));
                   const Array<float> x = array(e, 300);
                   blas::axpy(e, 0.5F, whole(x), whole(y), Rounding::Stochastic{7});
                   blas::axpby(e, 0.5F, whole(x), 0.9F, whole(y), Rounding::Stochastic{8});
                   blas::scal(e, 3.0F, whole(y));
                 }});
}

// The probes of the table take matrices of order 5; the others are large enough for several panels.
void add_solver(std::vector<Call>& all) {
  std::set<SolverProbe> there;
  for (const SymbolRow& row : solver_symbol_rows()) {
    if (row.probe == nullptr || !there.insert(row.probe).second) continue;
    std::string ours = row.ours, symbol = row.symbols;
    ours = ours.substr(1, ours.find('`', 1) - 1);
    symbol = symbol.substr(symbol.find(':') + 1);
    symbol = symbol.substr(0, symbol.find_first_of("+ "));
    for (int type = 0; type < static_cast<int>(std::size(kTypes)); ++type) {
      all.push_back({fmt::format("solver.{} ({}) {}", ours, symbol, kTypes[type]),
                     [probe = row.probe, type](const Executor& e) { probe(e, type); }});
    }
  }
  using namespace solver;
  const auto cholesky = [](const Executor& e, std::int64_t n) {
    const Matrix<float> a = definite_matrix(e, n), b = matrix(e, n, 3);
    const Cholesky<float> factor(e, Uplo::Lower, a.view());
    (void)factor.solve(b.view());
    (void)factor.inverse();
    (void)factor.condition();
    const Matrix<float> again = definite_matrix(e, n);
    (void)potrf(e, Uplo::Upper, again.view());
    (void)pocon(e, Uplo::Upper, again.view(), 3.0F);
    (void)potri(e, Uplo::Upper, again.view());
  };
  const auto lu = [](const Executor& e, std::int64_t n) {
    const Matrix<float> a = matrix(e, n, n), b = matrix(e, n, 3, 2);
    const Lu<float> factor(e, a.view());
    (void)factor.solve(b.view());
    (void)factor.solve(b.view(), Op::T);
    (void)factor.inverse();
    (void)factor.condition();
  };
  const auto qr = [](const Executor& e, std::int64_t m, std::int64_t n) {
    const Matrix<float> a = matrix(e, m, n), b = matrix(e, m, 3, 2);
    const Qr<float> factor(e, a.view());
    (void)factor.q();
    (void)factor.apply(Side::Left, Op::T, b.view());
  };
  const auto triangular = [](const Executor& e, std::int64_t n) {
    const Matrix<float> a = definite_matrix(e, n), b = matrix(e, n, 3);
    (void)trtrs<float>(e, Uplo::Lower, Op::N, Diag::NonUnit, a.view(), b.view());
    (void)trtrs<float>(e, Uplo::Upper, Op::T, Diag::Unit, a.view(), b.view());
    (void)trcon(e, solver::Norm::One, Uplo::Lower, Diag::NonUnit, a.view());
    (void)trtri(e, Uplo::Lower, Diag::NonUnit, a.view());
  };
  for (const std::int64_t n : {40, 130}) {
    all.push_back({fmt::format("solver.potrf and what uses it, order {}", n),
                   [cholesky, n](const Executor& e) { cholesky(e, n); }});
    all.push_back({fmt::format("solver.trtrs, trcon, trtri, order {}", n),
                   [triangular, n](const Executor& e) { triangular(e, n); }});
  }
  all.push_back({"solver.getrf and what uses it, order 40", [lu](const Executor& e) { lu(e, 40); }});
  all.push_back({"solver.geqrf, orgqr, ormqr, 40 x 24", [qr](const Executor& e) { qr(e, 40, 24); }});
  // The other types are composed of products: two leaves and what lies between them.
  const auto composed = [&all]<class T>(const char* type, T) {
    const auto systems = [](const Executor& e, auto factor) {
      const std::vector<float> a = definite(24), b = numbers(24 * 2, 5);
      const Matrix<T> x = Matrix<T>::from_host(e, 24, 2, std::vector<T>(b.begin(), b.end()));
      (void)factor(Matrix<T>::from_host(e, 24, 24, std::vector<T>(a.begin(), a.end())).view()).solve(x.view());
    };
    all.push_back({fmt::format("solver.potrf, potrs, order 24, {}", type), [systems](const Executor& e) {
                     systems(e, [&](const MatrixView<T>& a) { return Cholesky<T>(e, Uplo::Lower, a); });
                   }});
    all.push_back({fmt::format("solver.getrf, getrs, order 24, {}", type),
                   [systems](const Executor& e) { systems(e, [&](const MatrixView<T>& a) { return Lu<T>(e, a); }); }});
    all.push_back({fmt::format("solver.geqrf, ormqr, order 24, {}", type),
                   [systems](const Executor& e) { systems(e, [&](const MatrixView<T>& a) { return Qr<T>(e, a); }); }});
  };
  composed("fp64", double()), composed("complex64", std::complex<float>());
  composed("complex128", std::complex<double>());
  all.push_back({"solver.eigh, order 20", [](const Executor& e) {
                   const Matrix<float> a = definite_matrix(e, 20);
                   const Array<float> w(e, {20});
                   (void)eigh(e, a.view(), whole(w));
                 }});
  all.push_back({"solver.fused_cg, fused_chebyshev, order 140", [](const Executor& e) {
                   const Matrix<float> a = definite_matrix(e, 140), b = matrix(e, 140, 2), x(e, 140, 2);
                   const DenseOperator<float> op(a.view());
                   const KrylovOptions options{.tolerance = 1e-3, .max_iterations = 5};
                   (void)fused_cg(op, b.view(), x.view(), options);
                   (void)fused_chebyshev(op, b.view(), x.view(), {1, 1000}, options);
                 }});
  all.push_back({"solver.svd, 20 x 12", [](const Executor& e) {
                   const Matrix<float> a = matrix(e, 20, 12), u(e, 20, 12), vh(e, 12, 12);
                   const Array<float> s(e, {12});
                   (void)svd<float>(e, a.view(), whole(s), u.view(), vh.view());
                 }});
  all.push_back(
      {"solver.*_batched, 5 of order 9", [](const Executor& e) {
         constexpr std::int64_t kOrder = 9, kCount = 5;
         std::vector<float> values;
         for (std::int64_t p = 0; p < kCount; ++p) {
           for (const float x : definite(kOrder)) values.push_back(x * static_cast<float>(p + 1));
         }
         const auto batch = [&](const Array<float>& x) {
           return Batch<float>::strided({kOrder, kOrder, 0, Layout::RowMajor}, x.data(), kOrder * kOrder, kCount);
         };
         const auto rows = [&]<class T>(const Array<T>& x) {
           return MatrixView<T>(e, x.data(), kCount, kOrder, kOrder, 1);
         };
         const auto fresh = [&] { return Array<float>::from_host(e, {kCount * kOrder * kOrder}, values); };
         const Array<float> a = fresh(), b = fresh(), c = fresh(), d = fresh(), w(e, {kCount * kOrder}),
                            tau(e, {kCount * kOrder});
         const Array<std::int64_t> pivots(e, {kCount * kOrder});
         (void)potrf_batched(e, Uplo::Lower, batch(a));
         (void)getrf_batched(e, batch(b), rows(pivots));
         (void)geqrf_batched(e, batch(c), rows(tau));
         (void)eigh_batched(e, batch(d), rows(w));
       }});
}

void add_fft(std::vector<Call>& all) {
  using namespace fft;
  for (const std::int64_t n : {20, 300}) {  // one matrix product; a transform
    for (int type = 1; type <= 4; ++type) {
      all.push_back({fmt::format("fft.dct, dst of type {}, {} points", type, n), [type, n](const Executor& e) {
                       const auto x = Array<float>::from_host(e, {2, n}, numbers(2 * n, 1));
                       (void)dct(e, x, {.type = static_cast<CosineType>(type)});
                       (void)dst(e, x, {.type = static_cast<CosineType>(type)});
                     }});
    }
  }
  for (const std::int64_t points : {32, 200}) {
    all.push_back({fmt::format("fft.stft, istft, frames of {} points", points), [points](const Executor& e) {
                     const auto x = Array<float>::from_host(e, {2, 1000}, numbers(2000, 1));
                     const StftOptions options{.n_fft = points};
                     const auto y = stft(e, x, options);
                     (void)istft(e, y, options, {.length = 1000});
                   }});
  }
  all.push_back({"fft.convolve and its kin, 300 points with 20", [](const Executor& e) {
                   const auto x = Array<float>::from_host(e, {2, 300}, numbers(600, 1)),
                              k = Array<float>::from_host(e, {1, 20}, numbers(20, 2));
                   const ConvolveOptions along{.axes = {{1}}};
                   (void)fftconvolve(e, x, k, along);
                   (void)oaconvolve(e, x, k, along);
                   (void)convolve(e, x, k, {.axes = {{1}}, .method = ConvolveMethod::Direct});
                   (void)correlate(e, x, k, {.axes = {{1}}, .method = ConvolveMethod::Direct});
                 }});
  all.push_back({"fft.fftn, 6 x 15 x 10", [](const Executor& e) {
                   const auto x = Array<float>::from_host(e, {6, 15, 10}, numbers(900, 1));
                   (void)irfftn(e, rfftn(e, x));
                   (void)fftn(e, x);
                 }});
  // What the ranks of a distributed plan run between their lines, and fft.twiddle is.
  all.push_back({"fft.twiddle, 200 points", [](const Executor& e) {
                   const auto x = complex_array(e, 200), table = complex_array(e, 200);
                   const PointLayout points{Format::Interleaved, false, 200, 2};
                   tile::launch(e, pointwise_program, PointwiseShape{points, points, {{1, 0, 0}}, true, true},
                                {{"x", x.data()}, {"y", x.data()}, {"table", static_cast<const void*>(table.data())}});
                 }});
}

void add_rand(std::vector<Call>& all) {
  all.push_back({"rand.raw64", [](const Executor& e) {
                   rand::Generator g;
                   const Array<std::uint64_t> x(e, {1000});
                   rand::raw64(e, g, x.view());
                 }});
  all.push_back({"rand.uniform fp64", [](const Executor& e) {
                   rand::Generator g;
                   const Array<double> x(e, {1000});
                   rand::uniform(e, g, x.view());
                 }});
}

void add_sparse(std::vector<Call>& all) {
  const auto grid = [](const Executor& e) { return sparse::poisson<float>(12, 12).to(e); };
  for (const sparse::Kernel kernel : {sparse::Kernel::Resident, sparse::Kernel::Pinned, sparse::Kernel::Gather}) {
    for (const std::int64_t columns : {1, 40}) {
      all.push_back({fmt::format("sparse.spmm, {}, {} columns", sparse::name(kernel), columns),
                     [grid, kernel, columns](const Executor& e) {
                       const sparse::Csr<float> a = grid(e);
                       const Matrix<float> b = matrix(e, a.columns(), columns), c(e, a.rows(), columns);
                       const sparse::SpmmPlan<float> plan(e, a, {.columns = columns, .kernel = kernel});
                       (void)plan.execute(1.0F, b.view(), 0.0F, c.view());
                     }});
    }
  }
  for (const sparse::Kernel kernel : {sparse::Kernel::Dia, sparse::Kernel::Stencil}) {
    all.push_back({fmt::format("sparse.spmv, {}", sparse::name(kernel)), [grid, kernel](const Executor& e) {
                     const sparse::Csr<float> a = grid(e);
                     const Matrix<float> b = matrix(e, a.columns(), 1), c(e, a.rows(), 1);
                     const sparse::SpmmPlan<float> plan(e, a, {.kernel = kernel});
                     (void)plan.execute(1.0F, b.view(), 0.0F, c.view());
                   }});
  }
  all.push_back({"sparse.triangular, 144 rows and two columns", [grid](const Executor& e) {
                   const sparse::TriangularPlan<float> plan(e, grid(e));
                   const Matrix<float> b = matrix(e, 144, 2), x(e, 144, 2);
                   (void)plan.solve(1.0F, b.view(), x.view());
                 }});
  all.push_back({"sparse.spgemm, blocks of 128", [](const Executor& e) {
                   const auto a = sparse::convert<sparse::Bsr<float>>(sparse::poisson<float>(12, 12),
                                                                      {.block_rows = 128, .block_columns = 128})
                                      .to(e);
                   (void)sparse::BlockSpgemmPlan<float>(e, a, a).execute(1.0F, a, a);
                 }});
  all.push_back({"sparse.tridiagonal, 3 systems of 50", [](const Executor& e) {
                   const Array<float> off = Array<float>::from_host(e, {150}, std::vector<float>(150, -1.0F)),
                                      on = Array<float>::from_host(e, {150}, std::vector<float>(150, 3.0F)),
                                      b = Array<float>::from_host(e, {150}, numbers(150, 1));
                   const auto view = [&](const Array<float>& x) { return MatrixView<float>(e, x.data(), 50, 3, 3, 1); };
                   (void)sparse::TridiagonalPlan<float>(e, view(off), view(on), view(off)).solve(view(b));
                 }});
  all.push_back({"sparse.sddmm", [grid](const Executor& e) {
                   const sparse::Csr<float> a = grid(e);
                   const Matrix<float> d = matrix(e, a.rows(), 20);
                   (void)sparse::sddmm<float>(e, 1.0F, d.view(), d.view().transposed(), 0.0F, a);
                 }});
  all.push_back({"sparse.attention, forward and backward", [](const Executor& e) {
                   constexpr std::int64_t kQueries = 150, kHeads = 2, kDepth = 16;
                   const sparse::AttentionPlan<float> plan(e, sparse::AttentionMask::causal(kQueries, kQueries),
                                                           {.heads = kHeads, .kv_heads = 1, .d = kDepth});
                   const auto operand = [&](std::int64_t heads, int seed) {
                     const Shape shape{heads, kQueries, kDepth};
                     return Array<float>::from_host(e, shape, numbers(element_count(shape), seed));
                   };
                   const Array<float> q = operand(kHeads, 1), k = operand(1, 2), v = operand(1, 3),
                                      g = operand(kHeads, 4), o(e, q.shape()), s(e, {kHeads, kQueries}),
                                      dq(e, q.shape()), dk(e, k.shape()), dv(e, v.shape());
                   const auto in = [](const Array<float>& a) { return View<const float>(a.view()); };
                   (void)plan.forward(in(q), in(k), in(v), o.view(), s.view());
                   (void)plan.backward(in(q), in(k), in(v), in(o), in(s), in(g), dq.view(), dk.view(), dv.view());
                 }});
  all.push_back({"sparse, a matrix with low-rank blocks times two columns", [](const Executor& e) {
                   const auto a = sparse::blr<float>({64, 64}, [](std::int64_t i, std::int64_t j) {
                                    return 1 / static_cast<float>(1 + std::abs(i - j));
                                  }).to(e);
                   const Matrix<float> x = matrix(e, 64, 2), y(e, 64, 2);
                   a.apply(blas::Op::N, 1.0F, x.view(), 0.0F, y.view());
                 }});
}

}  // namespace

std::vector<Call> calls() {
  std::vector<Call> all;
  add_blas(all);
  add_rand(all);
  add_fft(all);
  add_solver(all);
  add_sparse(all);
  for (auto& [name, run] : tensor_coverage_calls()) all.push_back({name, run});
  return all;
}

}  // namespace trn::tools::silicon
