// `trnsci bench sparse.*`: products and solves with a sparse matrix on the host. Devices have no kernels yet, and a row
// for one says so.
#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>

#include <trn/core/error.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/triangular.hpp>

#include "host_peak.hpp"
#include "measure.hpp"
#include "operation.hpp"
#include "sparse_matrix.hpp"

namespace trn::tools {

namespace {

enum class SparseKind { Spmv, Spmm, Spgemm, Sddmm, Spsv, Csr2csc, Read };
constexpr const char* kNames[] = {"sparse.spmv", "sparse.spmm",    "sparse.spgemm", "sparse.sddmm",
                                  "sparse.spsv", "sparse.csr2csc", "sparse.read"};
constexpr const char* kFormulas[] = {"y = A x",
                                     "C = A B, A sparse",
                                     "C = A A, all sparse",
                                     "(A B) sampled at a sparse pattern",
                                     "L x = b, L the lower triangle",
                                     "rows to columns",
                                     "a file into memory; GB/s of its bytes"};

template <Scalar T> std::vector<T> numbers(std::int64_t count) {
  std::vector<T> v(static_cast<std::size_t>(count));
  std::uint64_t state = 7;
  for (T& x : v) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x = T(static_cast<Real<T>>(static_cast<double>(state >> 11) * 0x1p-52 - 1));
  }
  return v;
}

// The largest error of y = A x in units of (|A||x|)_i, over a sample of rows, against sums in long double.
template <Scalar T> double sampled_error(const sparse::Csr<T>& a, const T* x, const T* y, std::int64_t columns) {
  using Long = std::complex<long double>;
  const std::int64_t* offsets = a.pattern().offsets().data();
  const std::int64_t step = std::max<std::int64_t>(1, a.rows() / 2000);
  double largest = 0;
  for (std::int64_t i = 0; i < a.rows(); i += step) {
    Long sum = 0;
    long double size = 0;
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const Long term = Long(std::complex<double>(a.values().data()[k])) *
                        Long(std::complex<double>(x[a.pattern().indices().data()[k] * columns]));
      sum += term;
      size += std::abs(term);
    }
    const double error = static_cast<double>(std::abs(Long(std::complex<double>(y[i * columns])) - sum));
    if (size > 0) largest = std::max(largest, error / static_cast<double>(size));
  }
  return largest;
}

class SparseOperation final : public Operation {
 public:
  explicit SparseOperation(SparseKind kind) : kind_(kind) {}
  std::string name() const override { return kNames[static_cast<int>(kind_)]; }
  std::string summary() const override { return kFormulas[static_cast<int>(kind_)]; }
  std::vector<std::string> default_executors() const override { return {"host"}; }
  std::string error_note() const override { return "largest |y - exact| in units of (|A||x|)_i over a sample of rows"; }

  void add_options(Options& options) override {
    options.text("--matrix", file_, "a file: .mtx, .npz or Harwell-Boeing");
    options.text("--generate", generate_,
                 "instead of a file: poisson2d:N, poisson3d:N, stencil27:N, elasticity:N, rmat:N");
    options.text("--dtype", dtype_, "fp32, fp64, complex64, complex128");
    if (kind_ == SparseKind::Spmm || kind_ == SparseKind::Sddmm || kind_ == SparseKind::Spsv)
      options.number("--columns", columns_, "columns of B; sddmm: columns of A");
    if (kind_ == SparseKind::Spmv)
      options.text("--kernel", kernel_, "which kernel", {"automatic", "csr", "sell", "bsr", "dia"});
  }

  tile::Program program(const tile::Machine&) const override {
    fail<NotImplemented>("{}: has no device kernel yet; it runs on the host", name());
  }

  BenchRow bench(const std::string& executor, const BenchOptions& options) const override {
    require(!options.model_only, "bench: {} has no device model yet", name());
    switch (parse_dtype(dtype_)) {
      case DType::Float32:
        return run<float>(executor, options);
      case DType::Float64:
        return run<double>(executor, options);
      case DType::Complex64:
        return run<std::complex<float>>(executor, options);
      case DType::Complex128:
        return run<std::complex<double>>(executor, options);
      default:
        fail<InvalidArgument>("{}: not offered for {}", name(), dtype_);
    }
  }

 private:
  template <Scalar T> BenchRow run(const std::string& executor_name, const BenchOptions& options) const {
    const Executor executor = Executor::open(executor_name);
    const sparse::Csr<T> here = file_.empty() ? make_sparse<T>(generate_) : read_sparse<T>(file_);
    const sparse::Csr<T> a = executor == here.executor() ? here : here.to(executor);
    const std::int64_t n = kind_ == SparseKind::Spmv ? 1 : columns_, nnz = a.nnz();
    BenchRow r;
    r.op = name(), r.executor = executor.name(), r.dtype = trn::name(dtype_of<T>), r.precision = "native";
    std::string kernel = "csr";
    const Clock clock = options.cpu_time ? Clock::Processor : Clock::Wall;
    const auto time = [&](const auto& call) {
      call();
      return measure(options.repeats, call, clock).fastest_s;
    };
    double flops = 0, moved = 0;
    const double bytes = sizeof(T);
    switch (kind_) {
      case SparseKind::Spmv:
      case SparseKind::Spmm: {
        sparse::Kernel forced = sparse::Kernel::Automatic;
        for (const auto k : {sparse::Kernel::Csr, sparse::Kernel::Sell, sparse::Kernel::Bsr, sparse::Kernel::Dia}) {
          if (sparse::name(k) == kernel_) forced = k;
        }
        const sparse::SpmmPlan<T> plan(executor, a, {.columns = n, .kernel = forced});
        const std::vector<T> x = numbers<T>(a.columns() * n);
        std::vector<T> y(static_cast<std::size_t>(a.rows() * n));
        const MatrixView<const T> xv(executor, x.data(), a.columns(), n, n, 1);
        const MatrixView<T> yv(executor, y.data(), a.rows(), n, n, 1);
        r.seconds = time([&] { r.bound = plan.execute(T(1), xv, T(0), yv).bound; });
        r.error = sampled_error(a, x.data(), y.data(), n);
        kernel = sparse::name(plan.report().kernel);
        flops = 2.0 * static_cast<double>(nnz * n);
        moved =
            static_cast<double>(plan.report().matrix_bytes) + bytes * static_cast<double>(n * (a.rows() + a.columns()));
        break;
      }
      case SparseKind::Spgemm: {
        std::int64_t entries = 0;
        r.seconds = time([&] { entries = sparse::spgemm<T>(executor, T(1), a, a).nnz(); });
        flops = 2.0 * static_cast<double>(sparse::SpgemmPlan<T>(executor, a.pattern(), a.pattern()).products());
        kernel = "gustavson";
        moved = (bytes + 4) * static_cast<double>(2 * nnz + entries);
        break;
      }
      case SparseKind::Sddmm: {
        const std::vector<T> x = numbers<T>(a.rows() * n), y = numbers<T>(a.columns() * n);
        const MatrixView<const T> xv(executor, x.data(), a.rows(), n, n, 1),
            yv(executor, y.data(), n, a.columns(), 1, n);
        r.seconds = time([&] { (void)sparse::sddmm<T>(executor, T(1), xv, yv, T(0), a); });
        flops = 2.0 * static_cast<double>(nnz * n);
        moved = static_cast<double>(nnz) * (bytes + 4) + bytes * static_cast<double>(n * (a.rows() + a.columns()));
        break;
      }
      case SparseKind::Spsv: {
        const sparse::TriangularPlan<T> plan(executor, a);
        require(plan.outcome().ok(), "{}: row {} has no usable diagonal", name(), plan.outcome().index);
        const std::vector<T> b = numbers<T>(a.rows() * n);
        std::vector<T> x(b.size());
        const MatrixView<const T> bv(executor, b.data(), a.rows(), n, n, 1);
        const MatrixView<T> xv(executor, x.data(), a.rows(), n, n, 1);
        r.seconds = time([&] { (void)plan.solve(T(1), bv, xv); });
        const double stored = static_cast<double>(sparse::triangle(a, sparse::Uplo::Lower).nnz());
        flops = 2.0 * stored * static_cast<double>(n);
        moved = stored * (bytes + 4) + 2 * bytes * static_cast<double>(a.rows() * n);
        kernel = fmt::format("{} levels", plan.levels());
        break;
      }
      case SparseKind::Csr2csc:
        r.seconds = time([&] { (void)sparse::transpose(a); });
        moved = 2 * static_cast<double>(nnz) * (bytes + 4);
        break;
      case SparseKind::Read:
        require(!file_.empty(), "{}: --matrix FILE says what to read", name());
        r.seconds = time([&] { (void)read_sparse<T>(file_); });
        moved = static_cast<double>(std::filesystem::file_size(file_));
        break;
    }
    if (ComplexScalar<T>) flops *= 4;
    r.shape = {{"rows", a.rows()}, {"columns", a.columns()}, {"nnz", nnz}, {"n", n}, {"kernel", kernel}};
    r.gflops = flops / *r.seconds * 1e-9;
    r.gbytes = moved / *r.seconds * 1e-9;
    const bool wide = sizeof(Real<T>) == 8;
    r.roof_fraction = r.gflops * 1e9 / (wide ? host_peak().fp64_flops : host_peak().fp32_flops);
    r.note = fmt::format("{} x {}, {} entries, kernel {}", a.rows(), a.columns(), nnz, kernel);
    return r;
  }

  SparseKind kind_;
  std::string file_, generate_ = "poisson3d:48", dtype_ = "fp64", kernel_ = "automatic";
  std::int64_t columns_ = 32;
};

}  // namespace

std::vector<std::unique_ptr<Operation>> sparse_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  for (const SparseKind kind : {SparseKind::Spmv, SparseKind::Spmm, SparseKind::Spgemm, SparseKind::Sddmm,
                                SparseKind::Spsv, SparseKind::Csr2csc, SparseKind::Read})
    all.push_back(std::make_unique<SparseOperation>(kind));
  return all;
}

}  // namespace trn::tools
