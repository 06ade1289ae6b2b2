// Operations on distributed operands under mpirun: on every grid of the job's ranks each result has the bits that one
// rank alone has, by the transport `self`. Prints how many were compared, and each result's bits, which the driver
// (comm_mpi/test/ranks.py) compares between numbers of ranks. The same comparison on threads: the libraries' own tests.
#include <bit>
#include <map>
#include <string>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/dist_trsm.hpp>
#include <trn/comm_mpi/mpi.hpp>
#include <trn/fft/dist_plan.hpp>
#include <trn/rand/dist_fill.hpp>
#include <trn/solver/dist_cholesky.hpp>
#include <trn/solver/dist_eigh.hpp>
#include <trn/solver/dist_lu.hpp>
#include <trn/solver/dist_qr.hpp>
#include <trn/solver/dist_randomized.hpp>
#include <trn/sparse/dist_amg.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/tensor/dist_einsum.hpp>

namespace {

using namespace trn;
using comm::Communicator;
using Results = std::map<std::string, std::uint64_t>;

template <class T> std::uint64_t bits_of(const std::vector<T>& values) {
  std::uint64_t hash = 1469598103934665603U;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) hash = (hash ^ bytes[i]) * 1099511628211U;
  return hash;
}

double entry(std::int64_t seed, std::int64_t i, std::int64_t j) {
  auto x = static_cast<std::uint64_t>(seed * 1000003 + i * 8191 + j) * 0x9E3779B97F4A7C15U;
  x ^= x >> 29U;
  x *= 0xBF58476D1CE4E5B9U;
  return static_cast<double>((x ^ x >> 32U) >> 11U) * 0x1p-52 - 1;
}

using Matrix = dist::Matrix<double>;

class Cases {
 public:
  Cases(const Communicator& group, const dist::Grid& grid) : group_(group), grid_(grid) {}

  Results operator()() {
    dense();
    spectra();
    transforms();
    sparse_matrices();
    tensors();
    return results_;
  }

 private:
  [[nodiscard]] Matrix matrix(int seed, std::int64_t rows, std::int64_t columns, double diagonal = 0) const {
    Matrix m(group_, host_, {rows, columns, 16, 16, grid_});
    m.fill([&](std::int64_t i, std::int64_t j) {
      return i == j ? diagonal + entry(seed, i, i) : entry(seed, std::max(i, j), std::min(i, j));
    });
    return m;
  }
  template <class M> void keep(const std::string& name, const M& m) { results_[name] = bits_of(m.to_host()); }

  void dense() {
    const Matrix a = matrix(1, 90, 70), b = matrix(2, 70, 80), c = matrix(3, 90, 80), s = matrix(4, 90, 90, 200);
    blas::gemm<double>(blas::Op::N, blas::Op::N, 1.5, a, b, -1, c);
    keep("gemm", c);
    blas::gemm<double>(blas::Op::N, blas::Op::N, 1, a, b, 0.5, c, {Mode::Exact});
    keep("gemm_exact", c);
    const Matrix corner(group_, host_, {90, 80, 16, 16, {1, 1}});
    blas::gemm<double>(blas::Op::N, blas::Op::N, 1, a, b, 0, corner, {Mode::Exact}, blas::Layers{group_.size()});
    keep("gemm_layers", corner);
    blas::syrk<double>(blas::Uplo::Lower, blas::Op::N, 1, a, 1, s);
    keep("syrk", s);
    const Matrix factor = matrix(4, 90, 90, 200), x = matrix(5, 90, 7), general = matrix(6, 90, 90),
                 tall = matrix(7, 90, 40), y = matrix(8, 90, 3);
    blas::trsm<double>(blas::Side::Left, blas::Uplo::Lower, blas::Op::N, blas::Diag::NonUnit, 1, s, x);
    keep("trsm", x);
    (void)solver::potrf<double>(blas::Uplo::Upper, factor);
    (void)solver::potrs<double>(blas::Uplo::Upper, factor, x);
    keep("potrf", factor);
    keep("potrs", x);
    const solver::DistPivots lu = solver::getrf<double>(general);
    keep("getrf", general);
    results_["pivots"] = bits_of(lu.pivots);
    const auto qr = solver::geqrf<double>(tall);
    keep("geqrf", tall);
    (void)solver::least_squares<double>(tall, qr.tau, y);
    keep("least_squares", y);
    rand::Generator generator({.seed = 11});
    rand::normal(generator, c);
    keep("normal", c);
    keep("redistributed", c.redistributed({90, 80, 7, 5, {1, group_.size()}}));
  }
  void spectra() {
    const Matrix a = matrix(9, 60, 60), b = matrix(4, 60, 60, 100), g = matrix(9, 60, 60), low = matrix(12, 80, 50);
    results_["eigenvalues"] = bits_of(solver::eigh<double>(a).w);
    keep("eigenvectors", a);
    results_["sygvd"] = bits_of(solver::eigh_generalized<double>(g, b).w);
    const auto r = solver::rsvd<double>(low, 6, {.seed = 3});
    results_["rsvd"] = bits_of(r.s);
    keep("rsvd_u", r.u);
  }
  void transforms() {
    using C = std::complex<double>;
    for (const Shape& lengths : {Shape{720}, Shape{24, 18}, Shape{12, 10, 14}}) {
      const fft::DistPlan<double> plan(group_, host_, {fft::Kind::ComplexToComplex, fft::Direction::Forward, lengths});
      const dist::Array<C> in(group_, host_, plan.input_distribution()), out(group_, host_, plan.output_distribution());
      const dist::Array<double> parts(group_, host_, plan.input_distribution());
      rand::Generator generator({.seed = 5});
      rand::normal(generator, parts);
      for (std::int64_t i = 0; i < in.local().size(); ++i) in.local().data()[i] = parts.local().data()[i];
      plan.execute(in, out);
      keep("fft_" + std::to_string(lengths.size()), out);
    }
  }
  void sparse_matrices() {
    const auto a = sparse::poisson<double>(120, 110);
    const sparse::DistCsr<double> d(group_, a);
    const dist::Array<double> b(group_, host_, d.row_distribution()), x(group_, host_, d.row_distribution());
    for (std::int64_t i = 0; i < b.local().size(); ++i) b.local().data()[i] = entry(1, b.local_begin()[0] + i, 0);
    sparse::spmv<double>(1, d, b, 0, x);
    keep("spmv", x);
    results_["cg_iterations"] = static_cast<std::uint64_t>(sparse::cg(d, b, x, {.tolerance = 1e-6}).iterations);
    keep("cg", x);
    const sparse::DistAmg<double> multigrid(group_, a);
    (void)sparse::cg(d, b, x, multigrid, {.tolerance = 1e-9});
    keep("cg_multigrid", x);
  }
  void tensors() {
    const int ranks = group_.size();
    const dist::Array<double> a(group_, host_, dist::slabs({20, 9, 14}, 1, ranks)),
        b(group_, host_, dist::slabs({14, 9, 11}, 0, ranks)), c(group_, host_, dist::slabs({20, 11}, 0, ranks));
    rand::Generator generator({.seed = 6});
    rand::normal(generator, a);
    rand::normal(generator, b);
    for (const auto sharding : {tensor::Sharding::Output, tensor::Sharding::Reduce, tensor::Sharding::Mixed}) {
      tensor::einsum<double>("abc,cbd->ad", {a, b}, c, {.sharding = sharding});
      keep("einsum_" + std::string(name(sharding)), c);
    }
  }

  Communicator group_;
  dist::Grid grid_;
  Executor host_ = Executor::host();
  Results results_;
};

int run(const Communicator& world) {
  const int p = world.size();
  const Results one = Cases(Communicator::self(), {})();
  std::vector<dist::Grid> grids{{1, p}, {p, 1}, dist::square_grid(p)};
  if (p > 2) grids.push_back(dist::square_grid(p - 1));  // one rank has nothing
  std::int64_t compared = 0, wrong = 0;
  for (const dist::Grid& grid : grids) {
    for (const auto& [name, bits] : Cases(world, grid)()) {
      ++compared;
      if (one.at(name) == bits) continue;
      ++wrong;
      fmt::print(stderr, "WRONG on rank {}: {} on a grid of {} x {}\n", world.rank(), name, grid.rows, grid.columns);
    }
  }
  compared = comm::sum(world, compared);
  wrong = comm::sum(world, wrong);
  if (world.rank() == 0) {
    for (const auto& [name, bits] : one) fmt::print("bits {} {:016x}\n", name, bits);
    fmt::print("{} ranks: {} comparisons, {} wrong\n", p, compared, wrong);
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return comm::mpi_main(argc, argv, run); }
