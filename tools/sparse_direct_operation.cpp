// `trnsci bench sparse.cholesky|lu|qr`: direct solvers on the host. The row's time is that of a refactorisation, the
// numbers alone; its shape has the analysis and a solve besides.
#include <trn/core/error.hpp>
#include <trn/sparse/direct.hpp>

#include <trn/sparse/counts.hpp>

#include "measure.hpp"
#include "operation.hpp"
#include "peers.hpp"
#include "roofs.hpp"
#include "scalar_type.hpp"
#include "sparse_matrix.hpp"

namespace trn::tools {

namespace {

enum class DirectKind { Cholesky, Lu, Qr };
constexpr const char* kDirectNames[] = {"sparse.cholesky", "sparse.lu", "sparse.qr"};
constexpr const char* kDirectFormulas[] = {"A = L L^H", "P A Q = L U", "A P = Q R"};

class SparseDirectOperation final : public Operation {
 public:
  explicit SparseDirectOperation(DirectKind kind) : kind_(kind) {}
  std::string name() const override { return kDirectNames[static_cast<int>(kind_)]; }
  std::string summary() const override { return kDirectFormulas[static_cast<int>(kind_)]; }
  std::vector<std::string> default_executors() const override { return {"host"}; }
  std::string error_note() const override {
    return "max |b - A x|_i / (|A||x|)_i after one step of refinement, b all ones";
  }

  void add_options(Options& options) override {
    options.text("--matrix", file_, "a file: .mtx, .npz or Harwell-Boeing").reads();
    options.text("--generate", generate_,
                 "instead of a file: poisson2d:N, poisson3d:N, stencil27:N, elasticity:N, rmat:N");
    options.text("--dtype", dtype_, "fp32, fp64, complex64, complex128").completes(scalar_words());
    options.text("--ordering", ordering_, "which ordering", {"best", "none", "rcm", "minimum", "nested"});
  }

 private:
  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    if (executor.family() == Family::Device)
      fail<NotImplemented>("{}: has no device kernel; it runs on the host", name());
    with_scalar(name(), parse_dtype(dtype_), [&](auto zero) { run<decltype(zero)>(r, executor, options); });
  }
  template <Scalar T> void run(BenchRow& r, const Executor& executor, const BenchOptions& options) const {
    const sparse::Csr<T> here = file_.empty() ? make_sparse<T>(generate_) : read_sparse<T>(file_);
    const sparse::Csr<T> a = executor == here.executor() ? here : here.to(executor);
    sparse::Reorder order = sparse::Reorder::Best;
    if (ordering_ == "none") order = sparse::Reorder::None;
    if (ordering_ == "rcm") order = sparse::Reorder::ReverseCuthillMcKee;
    if (ordering_ == "minimum") order = sparse::Reorder::MinimumDegree;
    if (ordering_ == "nested") order = sparse::Reorder::NestedDissection;
    switch (kind_) {
      case DirectKind::Cholesky:
        return timed<T>(r, executor, options, a, [&] { return sparse::Cholesky<T>(a, {{.ordering = order}}); });
      case DirectKind::Lu:
        return timed<T>(r, executor, options, a, [&] { return sparse::Lu<T>(a, {{.ordering = order}}); });
      case DirectKind::Qr:
        break;
    }
    return timed<T>(r, executor, options, a, [&] { return sparse::Qr<T>(a, {{.ordering = order}}); });
  }

  template <Scalar T, class Make> void timed(BenchRow& r, const Executor& executor, const BenchOptions& options,
                                             const sparse::Csr<T>& a, const Make& make) const {
    const Clock clock = options.cpu_time ? Clock::Processor : Clock::Wall;
    r.dtype = trn::name(dtype_of<T>);
    std::optional<decltype(make())> made;
    const double whole = measure(
                             1, [&] { made.emplace(make()); }, clock)
                             .fastest_s;
    require(made->outcome().ok(), "{}: {} at {}", name(), sparse::name(made->outcome().status), made->outcome().index);
    r.seconds = measure(
                    options.repeats, [&] { made.emplace(std::move(*made).refactor(a)); }, clock)
                    .fastest_s;
    if constexpr (RealScalar<T>) {
      if (kind_ == DirectKind::Cholesky) {
        const Peer peer = cholesky_peer<T>(a);
        if (peer.call) r.peer = peer.name, r.peer_seconds = measure(options.repeats, peer.call, clock).fastest_s;
      }
    }
    const std::vector<T> b(static_cast<std::size_t>(a.rows()), T(1));
    std::vector<T> x(static_cast<std::size_t>(a.columns()));
    sparse::Solved solved;
    const double solve = measure(
                             options.repeats,
                             [&] {
                               solved = made->solve(MatrixView<const T>(executor, b.data(), a.rows(), 1, 1, a.rows()),
                                                    MatrixView<T>(executor, x.data(), a.columns(), 1, 1, a.columns()));
                             },
                             clock)
                             .fastest_s;
    r.error = solved.componentwise;
    r.bound = sparse::refined_error_bound<T>(a.rows());
    const sparse::FactorReport& f = made->report();
    r.shape = {{"rows", a.rows()},
               {"columns", a.columns()},
               {"nnz", a.nnz()},
               {"entries", f.entries},
               {"ordering", std::string(sparse::name(f.ordering))},
               {"factor_s", fmt::format("{:.4g}", whole)},
               {"solve_s", fmt::format("{:.4g}", solve)}};
    r.work = f.flops * (ComplexScalar<T> ? sparse::counts::kComplexFactor : 1);
    r.roof = flop_roof(executor, dtype_of<T>);
    r.note = fmt::format("{} rows, {} entries of factors, {}; with analysis {:.3g} s, solve {:.3g} s", a.rows(),
                         f.entries, sparse::name(f.ordering), whole, solve);
  }

  DirectKind kind_;
  std::string file_, generate_ = "poisson3d:24", dtype_ = "fp64", ordering_ = "best";
};

}  // namespace

std::vector<std::unique_ptr<Operation>> sparse_direct_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  for (const DirectKind kind : {DirectKind::Cholesky, DirectKind::Lu, DirectKind::Qr})
    all.push_back(std::make_unique<SparseDirectOperation>(kind));
  return all;
}

}  // namespace trn::tools
