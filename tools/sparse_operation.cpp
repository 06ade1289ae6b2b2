// `trnsci bench sparse.*`: products and solves with a sparse matrix, on the host and, for spmv, spmm, sddmm, spgemm (in
// blocks of 128 x 128) and spsv in float32, on simulated devices. Where a device has no kernel, the row says so.
#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>

#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/sparse/counts.hpp>
#include <trn/sparse/sddmm_programs.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/spgemm_programs.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/tile_programs.hpp>
#include <trn/sparse/triangular.hpp>
#include <trn/sparse/triangular_programs.hpp>
#include <trn/tile/device.hpp>

#include "measure.hpp"
#include "operation.hpp"
#include "peers.hpp"
#include "roofs.hpp"
#include "scalar_type.hpp"
#include "sparse_matrix.hpp"

namespace trn::tools {

std::unique_ptr<Operation> sparse_attention_operation(bool backward);
std::unique_ptr<Operation> sparse_tridiagonal_operation();

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
  explicit SparseOperation(SparseKind kind) : kind_(kind) {
    if (tiles() || kind == SparseKind::Sddmm) dtype_ = "fp32";  // what devices take
  }
  std::string name() const override { return kNames[static_cast<int>(kind_)]; }
  std::string summary() const override { return kFormulas[static_cast<int>(kind_)]; }
  std::vector<std::string> default_executors() const override { return {"host"}; }
  std::string rate_unit() const override {
    return kind_ == SparseKind::Csr2csc || kind_ == SparseKind::Read ? "GB/s" : "GFLOP/s";
  }
  std::string error_note() const override { return "largest |y - exact| in units of (|A||x|)_i over a sample of rows"; }

  void add_options(Options& options) override {
    options.text("--matrix", file_, "a file: .mtx, .npz or Harwell-Boeing").reads();
    options.text("--generate", generate_,
                 "instead of a file: poisson2d:N, poisson3d:N, stencil27:N, elasticity:N, rmat:N");
    options.text("--dtype", dtype_, "fp32, fp64, complex64, complex128").completes(scalar_words());
    if (kind_ == SparseKind::Spmm || kind_ == SparseKind::Sddmm || kind_ == SparseKind::Spsv)
      options.number("--columns", columns_, "columns of B; sddmm: columns of A");
    if (tiles()) {
      options.text("--kernel", kernel_, "which kernel",
                   {"automatic", "csr", "sell", "bsr", "dia", "resident", "pinned", "gather", "stencil"});
      options.text("--precision", precision_, "devices: native, tf32, bf16, tf32x3, bf16x6 or target=1e-6")
          .completes(precision_words());
      options.text("--reorder", reorder_, "devices: rows and columns in another order",
                   {"none", "rcm", "partition", "best"});
    }
  }

  tile::Program program(const tile::Machine& machine) const override {
    require_kernel();
    if (kind_ == SparseKind::Sddmm) {
      const sparse::Csr<float> s = matrix<float>(Executor::host());
      const sparse::PickedShape picked = sparse::picked_shape(s.pattern(), columns());
      return sparse::picks(picked, machine)
                 ? sparse::picked_program(picked, machine)
                 : sparse::sddmm_program(sparse::sddmm_shape(s.pattern(), columns()), machine);
    }
    if (kind_ == SparseKind::Spgemm) {
      const sparse::Pattern<> p = in_blocks(matrix<float>(Executor::host())).pattern();
      return sparse::block_spgemm_program(
          sparse::block_spgemm_shape(p, p, sparse::SpgemmPlan<float>(Executor::host(), p, p).pattern()), machine);
    }
    if (kind_ == SparseKind::Spsv) {
      const sparse::Csr<float> a = matrix<float>(Executor::host());
      return sparse::triangular_program(sparse::triangular_shape(a.pattern(), sparse::Uplo::Lower, columns()), machine);
    }
    const Executor executor = Executor::open(fmt::format("sim:{}", machine.name));
    return sparse::spmm_program(plan<float>(executor, matrix<float>(executor)), columns());
  }

 private:
  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    r.dtype = trn::name(parse_dtype(dtype_));
    if (executor.family() == Family::Device) {
      require_kernel();
      switch (kind_) {
        case SparseKind::Sddmm:
          return sample_on_device(r, executor, options);
        case SparseKind::Spgemm:
          return multiply_on_device(r, executor, options);
        case SparseKind::Spsv:
          return solve_on_device(r, executor, options);
        default:
          return run_on_device(r, executor, options);
      }
    }
    with_scalar(name(), parse_dtype(dtype_), [&](auto zero) { run<decltype(zero)>(r, executor, options); });
  }
  bool on_devices() const { return kind_ != SparseKind::Csr2csc && kind_ != SparseKind::Read; }
  void require_kernel() const {
    if (!on_devices()) fail<NotImplemented>("{}: has no device kernel; it runs on the host", name());
    if (parse_dtype(dtype_) != DType::Float32)
      fail<NotImplemented>("{}: devices take --dtype fp32; {} runs on the host", name(), dtype_);
  }
  bool tiles() const { return kind_ == SparseKind::Spmv || kind_ == SparseKind::Spmm; }
  std::int64_t columns() const { return kind_ == SparseKind::Spmv ? 1 : columns_; }
  template <Scalar T> sparse::Csr<T> matrix(const Executor& executor) const {
    const sparse::Csr<T> here = file_.empty() ? make_sparse<T>(generate_) : read_sparse<T>(file_);
    return executor == here.executor() ? here : here.to(executor);
  }
  template <Scalar T> sparse::SpmmPlan<T> plan(const Executor& executor, const sparse::Csr<T>& a) const {
    using enum sparse::Kernel;
    sparse::SpmmOptions o{.columns = columns(), .precision = Precision::parse(precision_)};
    for (const auto k : {Csr, Sell, Bsr, Dia, Resident, Pinned, Gather, Stencil}) {
      if (sparse::name(k) == kernel_) o.kernel = k;
    }
    using sparse::Reorder;
    o.reorder = reorder_ == "rcm"         ? Reorder::ReverseCuthillMcKee
                : reorder_ == "partition" ? Reorder::Partition
                : reorder_ == "best"      ? Reorder::Best
                                          : Reorder::None;
    return sparse::SpmmPlan<T>(executor, a, o);
  }

  void sample_on_device(BenchRow& r, const Executor& executor, const BenchOptions& options) const {
    const tile::Machine& machine = tile::device_of(executor).machine();
    const sparse::Csr<float> here = matrix<float>(Executor::host()), s = here.to(executor);
    const std::int64_t k = columns();
    if (options.model_only) {
      r.modelled_seconds = modelled_call(*this, machine);
    } else {
      const auto a = Array<float>::from_host(executor, {s.rows() * k}, numbers<float>(s.rows() * k)),
                 b = Array<float>::from_host(executor, {k * s.columns()}, numbers<float>(k * s.columns()));
      Recorder recorder(executor);
      r.seconds = measure(executor, options.repeats, [&] {
                    (void)sparse::sddmm<float>(
                        executor, 1, MatrixView<const float>(executor, a.data(), s.rows(), k, k, 1),
                        MatrixView<const float>(executor, b.data(), k, s.columns(), s.columns(), 1), 0, s);
                  }).fastest_s;
      ensure(recorder.family_of(name()) == "device", "{} did not run on {}", name(), executor.name());
      r.modelled_seconds = modelled_time(executor, recorder);
    }
    count(r, executor,
          sparse::counts::sddmm(static_cast<double>(s.nnz()), static_cast<double>(s.rows()),
                                static_cast<double>(s.columns()), static_cast<double>(k), sizeof(float)));
    r.shape = {
        {"rows", s.rows()}, {"columns", s.columns()}, {"nnz", s.nnz()}, {"n", k}, {"kernel", std::string("blocks")}};
  }

  static sparse::Bsr<float> in_blocks(const sparse::Csr<float>& a) {
    return sparse::convert<sparse::Bsr<float>>(a, {.block_rows = 128, .block_columns = 128});
  }
  // What is stored in blocks is multiplied: the work counted is that of the entries, as on the host.
  void multiply_on_device(BenchRow& r, const Executor& executor, const BenchOptions& options) const {
    const sparse::Csr<float> here = matrix<float>(Executor::host());
    const sparse::Bsr<float> a = in_blocks(here).to(executor);
    const sparse::BlockSpgemmPlan<float> plan(executor, a, a);
    if (options.model_only) {
      r.modelled_seconds = modelled_call(*this, tile::device_of(executor).machine());
    } else {
      Recorder recorder(executor);
      r.seconds = measure(executor, options.repeats, [&] { (void)plan.execute(1, a, a); }).fastest_s;
      ensure(recorder.family_of(name()) == "device", "{} did not run on {}", name(), executor.name());
      r.modelled_seconds = modelled_time(executor, recorder);
    }
    const sparse::SpgemmPlan<float> entries(Executor::host(), here.pattern(), here.pattern());
    const auto nnz = static_cast<double>(here.nnz());
    count(r, executor,
          sparse::counts::spgemm(static_cast<double>(entries.products()), nnz, nnz,
                                 static_cast<double>(entries.pattern().nnz()), sizeof(float)));
    r.shape = {{"rows", here.rows()},
               {"columns", here.columns()},
               {"nnz", here.nnz()},
               {"n", columns()},
               {"kernel", std::string("blocks")}};
    r.note = fmt::format("{} products of blocks of 128 x 128; one host core on blocks {:.1f} us",
                         plan.report().products, plan.report().host_seconds * 1e6);
  }
  void solve_on_device(BenchRow& r, const Executor& executor, const BenchOptions& options) const {
    const sparse::Csr<float> a = matrix<float>(Executor::host());
    const std::int64_t n = columns();
    const sparse::TriangularPlan<float> plan(executor, a.to(executor), {.columns = n});
    require(plan.outcome().ok(), "{}: row {} has no usable diagonal", name(), plan.outcome().index);
    if (options.model_only) {
      r.modelled_seconds = modelled_call(*this, tile::device_of(executor).machine());
    } else {
      const auto b = Array<float>::from_host(executor, {a.rows() * n}, numbers<float>(a.rows() * n));
      const Matrix<float> x(executor, a.rows(), n);
      Recorder recorder(executor);
      r.seconds = measure(executor, options.repeats, [&] {
                    (void)plan.solve(1, MatrixView<const float>(executor, b.data(), a.rows(), n, n, 1), x.view());
                  }).fastest_s;
      ensure(recorder.family_of("sparse.triangular.solve") == "device", "{} did not run on {}", name(),
             executor.name());
      r.modelled_seconds = modelled_time(executor, recorder);
    }
    const sparse::TriangularReport& t = plan.report();
    count(r, executor,
          sparse::counts::spsv(static_cast<double>(t.nnz), static_cast<double>(a.rows()), static_cast<double>(n),
                               sizeof(float)));
    r.shape = {{"rows", a.rows()},
               {"columns", a.columns()},
               {"nnz", a.nnz()},
               {"n", n},
               {"kernel", fmt::format("{} levels", t.levels)}};
    r.note =
        fmt::format("{} tiles filled {:.2f} %, {} levels of windows, |D||D^-1| up to {:.3g}; one host core {:.1f} us",
                    t.tiles, 100 * t.fill, t.levels, t.condition, t.host_seconds * 1e6);
  }

  // Work and roofs of a row of this type.
  void count(BenchRow& r, const Executor& executor, const sparse::counts::Work& work) const {
    const DType dtype = parse_dtype(dtype_);
    if (rate_unit() == "GB/s") {
      r.work = work.bytes, r.roof = byte_roof(executor);
      return;
    }
    r.work = work.flops * (is_complex(dtype) ? sparse::counts::kComplexFactor : 1);
    r.bytes = work.bytes;
    r.roof = flop_roof(executor, dtype, Precision::parse(precision_));
  }

  void run_on_device(BenchRow& r, const Executor& executor, const BenchOptions& options) const {
    const sparse::Csr<float> a = matrix<float>(executor);
    const sparse::SpmmPlan<float> plan = this->plan(executor, a);
    const sparse::PlanReport& report = plan.report();
    const std::int64_t n = columns();
    const tile::Machine& machine = tile::device_of(executor).machine();
    r.precision = precision_;
    if (options.model_only) {
      r.modelled_seconds = neuron::estimate(sparse::spmm_program(plan, n), machine).seconds;
    } else {
      const std::vector<float> x = numbers<float>(a.columns() * n);
      const auto xd = Array<float>::from_host(executor, {a.columns() * n}, x);
      const Matrix<float> y(executor, a.rows(), n);
      Recorder recorder(executor);
      const MatrixView<const float> xv(executor, xd.data(), a.columns(), n, n, 1);
      r.seconds =
          measure(executor, options.repeats, [&] { r.bound = plan.execute(1, xv, 0, y.view()).bound; }).fastest_s;
      ensure(recorder.family_of("sparse.spmm") == "device", "{} did not run on {}", name(), executor.name());
      r.modelled_seconds = modelled_time(executor, recorder);
      std::vector<float> out(static_cast<std::size_t>(a.rows() * n));
      copy(View<const float>(executor, y.data(), {a.rows() * n}),
           View<float>(Executor::host(), out.data(), {a.rows() * n}));
      sparse::Csr<float> here = a.to(Executor::host());
      if (plan.permutation()) here = sparse::permute(here, *plan.permutation(), *plan.permutation());
      r.error = sampled_error(here, x.data(), out.data(), n);
    }
    count(r, executor,
          sparse::counts::spmm(static_cast<double>(report.nnz), static_cast<double>(a.rows()),
                               static_cast<double>(a.columns()), static_cast<double>(n), sizeof(float),
                               static_cast<double>(report.matrix_bytes)));
    r.shape = {{"rows", a.rows()},
               {"columns", a.columns()},
               {"nnz", report.nnz},
               {"n", n},
               {"kernel", std::string(sparse::name(report.kernel))}};
    std::string others;
    for (const auto& other : report.alternatives)
      others += fmt::format(", {} {:.1f} us", sparse::name(other.kernel), other.seconds * 1e6);
    r.note = fmt::format(
        "{} x {}, {} entries, kernel {}: {} filled {:.2f} %, above {:.2f} % quicker than one host core ({:.1f} "
        "us); "
        "the plan's estimates{}",
        a.rows(), a.columns(), report.nnz, sparse::name(report.kernel),
        report.diagonals > 0 ? fmt::format("{} {}", report.diagonals,
                                           report.kernel == sparse::Kernel::Stencil ? "coefficients" : "diagonals")
                             : fmt::format("{} tiles", report.tiles),
        100 * report.fill, 100 * report.break_even_fill, report.host_seconds * 1e6,
        others.empty() ? "" : ":" + others.substr(1));
  }

  template <Scalar T> void run(BenchRow& r, const Executor& executor, const BenchOptions& options) const {
    const sparse::Csr<T> a = matrix<T>(executor);
    const std::int64_t n = columns(), nnz = a.nnz();
    std::string kernel = "csr";
    const Clock clock = options.cpu_time ? Clock::Processor : Clock::Wall;
    const auto time = [&](const auto& call) {
      call();
      return measure(options.repeats, call, clock).fastest_s;
    };
    const auto beside = [&](const Peer& peer) {
      if (peer.call) r.peer = peer.name, r.peer_seconds = time(peer.call);
    };
    namespace counts = sparse::counts;
    counts::Work work;
    const double size = sizeof(T), entries = static_cast<double>(nnz), rows = static_cast<double>(a.rows()),
                 wide = static_cast<double>(a.columns()), dn = static_cast<double>(n);
    switch (kind_) {
      case SparseKind::Spmv:
      case SparseKind::Spmm: {
        const sparse::SpmmPlan<T> plan = this->plan(executor, a);
        const std::vector<T> x = numbers<T>(a.columns() * n);
        std::vector<T> y(static_cast<std::size_t>(a.rows() * n));
        const MatrixView<const T> xv(executor, x.data(), a.columns(), n, n, 1);
        const MatrixView<T> yv(executor, y.data(), a.rows(), n, n, 1);
        r.seconds = time([&] { r.bound = plan.execute(T(1), xv, T(0), yv).bound; });
        r.error = sampled_error(a, x.data(), y.data(), n);
        beside(spmm_peer<T>(a, x.data(), y.data(), n));
        kernel = sparse::name(plan.report().kernel);
        work = counts::spmm(entries, rows, wide, dn, size, static_cast<double>(plan.report().matrix_bytes));
        break;
      }
      case SparseKind::Spgemm: {
        std::int64_t found = 0;
        r.seconds = time([&] { found = sparse::spgemm<T>(executor, T(1), a, a).nnz(); });
        beside(spgemm_peer<T>(a));
        kernel = "gustavson";
        work = counts::spgemm(static_cast<double>(sparse::SpgemmPlan<T>(executor, a.pattern(), a.pattern()).products()),
                              entries, entries, static_cast<double>(found), size);
        break;
      }
      case SparseKind::Sddmm: {
        const std::vector<T> x = numbers<T>(a.rows() * n), y = numbers<T>(a.columns() * n);
        const MatrixView<const T> xv(executor, x.data(), a.rows(), n, n, 1),
            yv(executor, y.data(), n, a.columns(), 1, n);
        r.seconds = time([&] { (void)sparse::sddmm<T>(executor, T(1), xv, yv, T(0), a); });
        work = counts::sddmm(entries, rows, wide, dn, size);
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
        beside(spsv_peer<T>(a, b.data(), x.data(), n));
        work = counts::spsv(static_cast<double>(sparse::triangle(a, sparse::Uplo::Lower).nnz()), rows, dn, size);
        kernel = fmt::format("{} levels", plan.levels());
        break;
      }
      case SparseKind::Csr2csc:
        r.seconds = time([&] { (void)sparse::transpose(a); });
        beside(transpose_peer<T>(a));
        work = counts::transpose(entries, size);
        break;
      case SparseKind::Read:
        require(!file_.empty(), "{}: --matrix FILE says what to read", name());
        r.seconds = time([&] { (void)read_sparse<T>(file_); });
        work = {0, static_cast<double>(std::filesystem::file_size(file_))};
        break;
    }
    r.shape = {{"rows", a.rows()}, {"columns", a.columns()}, {"nnz", nnz}, {"n", n}, {"kernel", kernel}};
    count(r, executor, work);
  }

  SparseKind kind_;
  std::string file_, generate_ = "poisson3d:48", dtype_ = "fp64", kernel_ = "automatic", precision_ = "native",
                     reorder_ = "none";
  std::int64_t columns_ = 32;
};

}  // namespace

std::vector<std::unique_ptr<Operation>> sparse_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  for (const SparseKind kind : {SparseKind::Spmv, SparseKind::Spmm, SparseKind::Spgemm, SparseKind::Sddmm,
                                SparseKind::Spsv, SparseKind::Csr2csc, SparseKind::Read})
    all.push_back(std::make_unique<SparseOperation>(kind));
  for (const bool backward : {false, true}) all.push_back(sparse_attention_operation(backward));
  all.push_back(sparse_tridiagonal_operation());
  return all;
}

}  // namespace trn::tools
